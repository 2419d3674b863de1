// SPDX-License-Identifier: Apache-2.0
// The engine of the parallel loops: a range of indices that is divided only when somebody asks.
//
// Protocol. Who runs a range takes it in pieces, from the front. Before each piece it pushes one
// fork, which stands for the whole rest behind the piece, and takes it back after it. So at any
// time a thief finds nearly everything that is left as one steal, by request at the edge of a piece
// or by force in the middle of a long one, and a range that nobody wants costs a push, a pop and a
// look at the clock for each piece. A thief halves what it took, offers the upper half, and runs
// the lower one in the same way. Its victim will ask for the upper half as soon as its piece is
// finished.
//
// Errors. A piece that throws leaves its first index in `failed`; pieces that begin behind the
// lowest such index are not started, all before it are run. Joins prefer the exception of the lower
// range. So the exception that arrives is that of the lowest element that throws, the same one as
// in a serial loop, however the work was divided. Tested by tests/unit/par.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/fork_join.hpp"
#include "sennit/par/detail/chunk_sizer.hpp"

#include <cstddef>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

namespace sennit::par::detail {

using sennit::detail::own_copy;

// What a loop does with its indices. `run(value, first, last)` goes over the elements of a piece in
// order and returns the value so far; an empty one means that no element has been seen. `join` puts
// two neighbouring values together.
template <class Work>
using partial = std::optional<typename Work::value_type>;

template <class Work>
struct lazy_loop {
    const Work work;
    const grain wanted;
    base::atomic<std::size_t> failed{std::numeric_limits<std::size_t>::max()};

    bool dropped(std::size_t first) const noexcept {
        return failed.load_rlx() < first; // a hint: whoever misses it does some work in vain
    }
    void fail(std::size_t first) noexcept {
        std::size_t lowest = failed.load();
        while (first < lowest && !failed.cas(lowest, first)) {
        }
    }
};

template <class Work>
partial<Work> join(const Work& work, partial<Work> low, partial<Work> high) {
    if (!low) return high;
    if (high) *low = work.join(std::move(*low), std::move(*high));
    return low;
}

// A function of its own, with its own copy of the work: nothing of the loop around it, whose
// addresses thieves know, gets between the compiler and the elements.
template <class Work>
[[gnu::noinline]] void run_chunk(own_copy<const Work> work, partial<Work>& value, std::size_t first,
                                 std::size_t last) {
    own_copy<const Work> own = work;
    own.run(value, first, last);
}

template <class Work>
partial<Work> run_range(lazy_loop<Work>& loop, partial<Work> value, std::size_t first,
                        std::size_t last);

template <class Work>
partial<Work> run_stolen(lazy_loop<Work>& loop, std::size_t first, std::size_t last) {
    const std::size_t unit = loop.wanted.elements > 1              ? loop.wanted.elements
                             : last - first >= 8 * chunk_alignment ? chunk_alignment
                                                                   : 1;
    const std::size_t half = round_up(first + (last - first) / 2, unit, last);
    if (half == first || half == last) return run_range<Work>(loop, {}, first, last);
    auto lower = [&] { return run_range<Work>(loop, {}, first, half); };
    auto upper = [&] { return run_range<Work>(loop, {}, half, last); };
    auto [low, high] = sennit::detail::fork_two(lower, upper);
    return join<Work>(loop.work, std::move(low), std::move(high));
}

template <class Work>
struct stolen_rest {
    lazy_loop<Work>* loop;
    std::size_t first;
    std::size_t last;
    partial<Work> operator()() const { return run_stolen<Work>(*loop, first, last); }
};

// Runs [first, last) behind the elements that `value` stands for.
template <class Work>
partial<Work> run_range(lazy_loop<Work>& loop, partial<Work> value, std::size_t first,
                        std::size_t last) {
    using kid = sennit::detail::child<stolen_rest<Work>, partial<Work>>;
    [[maybe_unused]] sennit::detail::spare_room<typename kid::stored, !kid::result_in_slot> room;
    sched::fork_slot* const slot = sched::free_slot();
    slot->run = &kid::run;
    auto* const rest = ::new (static_cast<void*>(slot->data))
        typename kid::payload{{&loop, first, last}, room.address()};
    chunk_sizer steps(loop.wanted);
    while (first < last && !loop.dropped(first)) {
        const std::size_t end = steps.next_end(first, last);
        const bool more = end < last;
        if (more) {
            rest->function.first =
                end; // what the elements fork lies behind the slot: its other words stay
            sched::push_fork(slot);
        }
        auto piece = [&]() noexcept(Work::never_throws) {
            if constexpr (Work::never_throws) {
                run_chunk<Work>(loop.work, value, first, end);
            } else {
                try {
                    run_chunk<Work>(loop.work, value, first, end);
                } catch (...) {
                    loop.fail(first);
                    throw;
                }
            }
        };
        sennit::detail::run_first<void>(piece, more ? slot : nullptr, &kid::drop, room.memory());
        if (!more) break;
        if (!sched::pop_fork(slot)) [[unlikely]] {
            if (slot->done.failed()) sennit::detail::rethrow_from(slot);
            partial<Work>* theirs;
            if constexpr (kid::result_in_slot)
                theirs = &slot->as<partial<Work>>();
            else
                theirs = room.address();
            sennit::detail::destroy_after<partial<Work>> guard{*theirs};
            return join<Work>(loop.work, std::move(value), std::move(*theirs));
        }
        steps.note_chunk(end - first);
        first = end;
    }
    return value;
}

// Runs [0, count) behind `value`. From a thread that is no worker, on the default runtime.
template <class Work>
partial<Work> run_loop(const Work& work, partial<Work> value, std::size_t count, grain wanted) {
    lazy_loop<Work> loop{work, wanted};
    if (count == 0) return value;
    if (sched::free_slot()) [[likely]]
        return run_range<Work>(loop, std::move(value), 0, count);
    return default_runtime().run([&] { return run_range<Work>(loop, std::move(value), 0, count); });
}

} // namespace sennit::par::detail
