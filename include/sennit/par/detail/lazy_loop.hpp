// SPDX-License-Identifier: Apache-2.0
// The engine of the parallel loops: a range of indices that is divided only when a worker asks for
// work.
//
// Protocol. A worker runs a range in chunks, from the front. Before each chunk it pushes one fork,
// which stands for the whole rest behind the chunk, and takes it back after the chunk. At any time
// a thief therefore finds nearly all remaining elements as one fork. It gets the fork by request at
// the edge of a chunk, or by force in the middle of a long one. A range without thieves costs a
// push, a pop and a reading of the clock for each chunk. A thief halves the range that it took,
// offers the upper half, and runs the lower half in the same way. Its victim will ask for the upper
// half as soon as its chunk is finished.
//
// Errors. A chunk that throws makes the loop stop at the chunk's first index. Chunks that begin
// behind the lowest such index are not started; all chunks before it are run. Joins prefer the
// exception of the lower range. The exception that arrives is therefore that of the lowest element
// that throws, as in a serial loop, however the work was divided. loop_control.hpp explains the
// limit of workers and the cancellation. Tested by tests/unit/par.
#pragma once

#include "sennit/fork_join.hpp"
#include "sennit/par/detail/chunk_sizer.hpp"
#include "sennit/par/detail/loop_control.hpp"

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

namespace sennit::par::detail {

using sennit::detail::own_copy;

// The work of a loop. `run(value, first, last)` visits the elements of a chunk in order and adds
// their result to `value`; an empty value means that no element has been visited. `join` combines
// two neighbouring values.
template <class Work>
using partial = std::optional<typename Work::value_type>;

// State that a worker carries from chunk to chunk of one range, for loops whose chunks are cheap to
// continue and expensive to begin. A work that has it names its type `state_type`, returns the
// state at index i from `start(i)`, and takes the state as last argument of `run`. The loop calls
// `start` once for each range: for the first one, and for each range that a thief took.
template <class Work>
concept carries_state = requires { typename Work::state_type; };

struct no_state {};
template <class Work>
struct carried {
    using type = no_state;
};
template <carries_state Work>
struct carried<Work> {
    using type = std::optional<typename Work::state_type>;
};

template <class Work>
struct lazy_loop : loop_control {
    lazy_loop(const Work& what, const with& given) noexcept : loop_control(given), work(what) {}
    const Work work;
};

template <class Work>
partial<Work> join(const Work& work, partial<Work> low, partial<Work> high) {
    if (!low) return high;
    if (high) *low = work.join(std::move(*low), std::move(*high));
    return low;
}

// A separate function with its own copy of the work. Thieves know the addresses of the loop around
// it; the copy keeps them out of the compiler's way.
template <class Work>
[[gnu::noinline]] void run_chunk(own_copy<const Work> work, partial<Work>& value, std::size_t first,
                                 std::size_t last) {
    own_copy<const Work> own = work;
    own.run(value, first, last);
}
template <carries_state Work>
[[gnu::noinline]] void run_chunk_on(own_copy<const Work> work, partial<Work>& value,
                                    std::size_t first, std::size_t last,
                                    std::optional<typename Work::state_type>& state) {
    own_copy<const Work> own = work;
    if (!state) state.emplace(own.start(first));
    own.run(value, first, last, *state);
}

template <class Work>
partial<Work> run_range(lazy_loop<Work>& loop, partial<Work> value, std::size_t first,
                        std::size_t last);

// Runs a stolen rest, of at least one element.
template <class Work>
partial<Work> run_stolen(lazy_loop<Work>& loop, std::size_t first, std::size_t last) {
    stolen_scope scope(loop);
    const std::size_t unit = loop.options.min_grain > 1            ? loop.options.min_grain
                             : last - first >= 8 * chunk_alignment ? chunk_alignment
                                                                   : 1;
    const std::size_t half = round_up(first + (last - first) / 2, unit, last);
    if (half == first || half == last || !loop.take_place())
        return run_range<Work>(loop, {}, first, last);
    auto lower = [&] {
        loop_control::place_guard place(loop);
        return run_range<Work>(loop, {}, first, half);
    };
    auto upper = [&] {
        stolen_scope upper_scope(loop);
        return run_range<Work>(loop, {}, half, last);
    };
    auto [low, high] = sennit::detail::fork_two_on_worker(lower, upper);
    return join<Work>(loop.work, std::move(low), std::move(high));
}

template <class Work>
struct stolen_rest {
    lazy_loop<Work>* loop;
    std::size_t first;
    std::size_t last;
    partial<Work> operator()() const { return run_stolen<Work>(*loop, first, last); }
};

// Prepares a chunk of a loop that is in a scope or limited. `spare_place` says whether the range
// holds a place for a thief. Returns false if the chunk must not start; otherwise it sets `offer`.
[[gnu::noinline]] inline bool prepare_chunk(loop_control& loop, std::size_t first, bool more,
                                            bool& spare_place, bool& offer) noexcept {
    const bool dropped = loop.dropped(first);
    offer = more && !dropped && (spare_place || loop.take_place());
    if (spare_place && !offer) loop.give_place_back();
    spare_place = offer;
    return !dropped;
}

// Runs a chunk without offering the rest.
template <class Work, class State>
[[gnu::noinline, gnu::cold]] void run_chunk_alone(lazy_loop<Work>& loop, partial<Work>& value,
                                                  [[maybe_unused]] State& state, std::size_t first,
                                                  std::size_t end) noexcept(Work::never_throws) {
    auto chunk = [&]() noexcept(Work::never_throws) {
        if constexpr (carries_state<Work>)
            run_chunk_on<Work>(loop.work, value, first, end, state);
        else
            run_chunk<Work>(loop.work, value, first, end);
    };
    if constexpr (Work::never_throws) {
        chunk();
    } else {
        try {
            chunk();
        } catch (...) {
            loop.stop_at(first);
            throw;
        }
    }
    sched::poll_steal_requests(); // for the forks below this loop
}

// Runs [first, last), at least one element, after the elements whose result is `value`.
template <class Work>
partial<Work> run_range(lazy_loop<Work>& loop, partial<Work> value, std::size_t first,
                        std::size_t last) {
    using kid = sennit::detail::child<stolen_rest<Work>, partial<Work>>;
    [[maybe_unused]] sennit::detail::spare_room<typename kid::stored, !kid::result_in_slot> room;
    sched::fork_slot* const slot = sched::free_slot();
    slot->run = &kid::run;
    auto* const rest = ::new (static_cast<void*>(slot->data))
        typename kid::payload{{&loop, first, last}, room.address()};
    chunk_sizer steps(loop.options);
    [[maybe_unused]] typename carried<Work>::type state;
    bool spare_place = false; // a place for the thief of the rest, only in limited loops
    for (std::size_t end = steps.first_end(first, last);;
         first = end, end = steps.next_end(first, last)) {
        const bool more = end < last;
        if (loop.asks_before(first)) [[unlikely]] {
            bool offer;
            if (!prepare_chunk(loop, first, more, spare_place, offer)) break;
            if (more && !offer) {
                run_chunk_alone(loop, value, state, first, end);
                steps.note_chunk(end - first);
                continue;
            }
        }
        if (more) {
            // Only this word of the slot changes: forks of the elements use memory behind the slot.
            rest->function.first = end;
            sched::push_fork(slot);
        }
        auto piece = [&]() noexcept(Work::never_throws) {
            if constexpr (Work::never_throws) {
                if constexpr (carries_state<Work>)
                    run_chunk_on<Work>(loop.work, value, first, end, state);
                else
                    run_chunk<Work>(loop.work, value, first, end);
            } else {
                try {
                    if constexpr (carries_state<Work>)
                        run_chunk_on<Work>(loop.work, value, first, end, state);
                    else
                        run_chunk<Work>(loop.work, value, first, end);
                } catch (...) {
                    loop.stop_at(first);
                    if (more) loop.give_place_back();
                    throw;
                }
            }
        };
        sennit::detail::run_first<void>(piece, more ? slot : nullptr, &kid::drop, room.memory());
        if (!more) break;
        if (!sched::try_pop_fork(slot)) [[unlikely]] {
            loop.give_place_back();
            spare_place = false;
            if (!sched::pop_fork_slow(slot)) {
                if (slot->done.failed()) sennit::detail::rethrow_from(slot);
                partial<Work>* theirs;
                if constexpr (kid::result_in_slot)
                    theirs = &slot->as<partial<Work>>();
                else
                    theirs = room.address();
                sennit::detail::destroy_after<partial<Work>> guard{*theirs};
                return join<Work>(loop.work, std::move(value), std::move(*theirs));
            }
        }
        steps.note_chunk(end - first);
    }
    return value;
}

template <class Work>
[[gnu::noinline, gnu::cold]] partial<Work>
run_range_outside(lazy_loop<Work>& loop, partial<Work>& value, std::size_t count) {
    auto all = [&] { return run_range<Work>(loop, std::move(value), 0, count); };
    return sennit::detail::on_default_runtime(all);
}

// Runs a loop over [0, count), at least one element, with the initial `value`.
template <class Work>
[[gnu::always_inline]] inline partial<Work> run_whole(lazy_loop<Work>& loop, partial<Work> value,
                                                      std::size_t count) {
    partial<Work> result = sched::free_slot() ? run_range<Work>(loop, std::move(value), 0, count)
                                              : run_range_outside<Work>(loop, value, count);
    loop.throw_if_cancelled();
    return result;
}

// Runs [0, count) with the initial `value`. On a thread that is no worker it uses the default
// runtime.
template <class Work>
partial<Work> run_loop(const Work& work, partial<Work> value, std::size_t count,
                       const with& options) {
    if (count == 0) return value;
    // A single element needs no loop, except as a point of cancellation.
    if constexpr (!carries_state<Work>) {
        if (count == 1 && sched::free_slot() && !sched::this_strand().scope) {
            run_chunk<Work>(work, value, 0, 1);
            return value;
        }
    }
    lazy_loop<Work> loop(work, options);
    return run_whole<Work>(loop, std::move(value), count);
}

// The result of loops that compute none.
struct no_value {};

// A loop whose chunks are calls of `body(first, last)`.
template <class Body>
struct chunk_work {
    using value_type = no_value;
    static constexpr bool never_throws =
        std::is_nothrow_invocable_v<const Body&, std::size_t, std::size_t>;

    Body body;

    [[gnu::always_inline]] void run(std::optional<no_value>&, std::size_t first,
                                    std::size_t last) const {
        body(first, last);
    }
    no_value join(no_value, no_value) const noexcept { return {}; }
};
template <class Body>
void run_chunks(const with& options, std::size_t count, const Body& body) {
    run_loop(chunk_work<Body>{body}, {}, count, options);
}

// A loop whose chunks return a value by `body(first, last)`. `combine(low, high)` joins the values
// of neighbours. Empty if there is no element.
template <class T, class Body, class Combine>
struct value_work {
    using value_type = T;
    static constexpr bool never_throws =
        std::is_nothrow_invocable_v<const Body&, std::size_t, std::size_t> &&
        std::is_nothrow_invocable_v<const Combine&, T, T> &&
        std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T>;

    Body body;
    Combine combine;

    [[gnu::always_inline]] void run(std::optional<T>& value, std::size_t first,
                                    std::size_t last) const {
        T mine = body(first, last);
        if (value)
            *value = combine(std::move(*value), std::move(mine));
        else
            value.emplace(std::move(mine));
    }
    T join(T low, T high) const { return combine(std::move(low), std::move(high)); }
};
template <class T, class Body, class Combine>
std::optional<T> run_values(const with& options, std::size_t count, const Body& body,
                            const Combine& combine) {
    return run_loop(value_work<T, Body, Combine>{body, combine}, {}, count, options);
}

} // namespace sennit::par::detail
