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
// Errors. A chunk that throws stores its first index in `failed`. Chunks that begin behind the
// lowest such index are not started; all chunks before it are run. Joins prefer the exception of
// the lower range. The exception that arrives is therefore that of the lowest element that throws,
// as in a serial loop, however the work was divided. Tested by tests/unit/par.
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

// The function that a loop applies to its indices. `run(value, first, last)` visits the elements of
// a chunk in order and returns the value so far; an empty value means that no element has been
// visited. `join` combines two neighbouring values.
template <class Work>
using partial = std::optional<typename Work::value_type>;

template <class Work>
struct lazy_loop {
    const Work work;
    const grain wanted;
    base::atomic<std::size_t> failed{std::numeric_limits<std::size_t>::max()};

    bool dropped(std::size_t first) const noexcept {
        // A hint: a worker that reads an old value does some work without result.
        return failed.load_rlx() < first;
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

// A separate function with its own copy of the work. Thieves know the addresses of the loop around
// it; the copy keeps them out of the compiler's way.
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

// Runs [first, last) after the elements whose result is `value`.
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
            // Only this word of the slot changes: forks of the elements use memory behind the slot.
            rest->function.first = end;
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

// Runs [0, count) with the initial `value`. On a thread that is no worker it uses the default
// runtime.
template <class Work>
partial<Work> run_loop(const Work& work, partial<Work> value, std::size_t count, grain wanted) {
    lazy_loop<Work> loop{work, wanted};
    if (count == 0) return value;
    if (sched::free_slot()) [[likely]]
        return run_range<Work>(loop, std::move(value), 0, count);
    return default_runtime().run([&] { return run_range<Work>(loop, std::move(value), 0, count); });
}

} // namespace sennit::par::detail
