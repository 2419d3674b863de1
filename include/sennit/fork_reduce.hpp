// SPDX-License-Identifier: Apache-2.0
// fork_reduce: the same callable for each of n indices in parallel, its results combined on the
// way.
//
// Use it when only the combination of the children's results matters (a count, a sum, a best move):
// nothing is stored, so it is the cheapest form of an indexed family. With results wanted one by
// one, use `fork_each`; over long ranges of cheap elements, `par::transform_reduce`.
//
//     long solutions = sennit::fork_reduce(moves, 0L, std::plus<>{}, [&](std::size_t i) { return
//     solve(after(i)); });
//
// Guarantees as for `fork_each`. `reduce` must be associative; it is applied in index order, but
// grouped as the work was divided, so for floating-point numbers the last bits may differ from run
// to run. Cost of a child that nobody takes: about 1 ns; no allocation.
#pragma once

#include "sennit/fork_each.hpp"

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace sennit {

namespace detail {

template <class T, class Reduce, class F>
struct reduction {
    own_copy<Reduce> reduce;
    own_copy<F> transform;
};

template <class T, class Reduce, class F>
T reduce_indices(reduction<T, Reduce, F>& what, T value, std::size_t first, std::size_t last);

// What a thief does with [first, last), at least one index: by halves, so that all that waits is on
// offer while one runs.
template <class T, class Reduce, class F>
T reduce_stolen(reduction<T, Reduce, F>& what, std::size_t first, std::size_t last) {
    if (last - first == 1) return T(what.transform(first));
    const std::size_t half = first + (last - first + 1) / 2;
    auto lower = [&] { return reduce_stolen<T, Reduce, F>(what, first, half); };
    auto upper = [&] { return reduce_stolen<T, Reduce, F>(what, half, last); };
    auto [low, high] = fork_two(lower, upper);
    return std::invoke(what.reduce, std::move(low), std::move(high));
}

// The slot stands for the indices behind the one that runs, as in fork_indices; a thief leaves
// their reduction in it.
template <class T, class Reduce, class F>
[[gnu::always_inline]] inline T reduce_indices_here(reduction<T, Reduce, F>& shared, T value,
                                                    std::size_t first, std::size_t last) {
    if (first == last) return value;
    own_copy<reduction<T, Reduce, F>> what = shared;
    struct rest_closure {
        reduction<T, Reduce, F>* what;
        std::size_t first;
        std::size_t last;
        T operator()() const { return reduce_stolen<T, Reduce, F>(*what, first, last); }
    };
    using kid = child<rest_closure, T>;
    [[maybe_unused]] spare_room<T, !kid::result_in_slot> room;
    sched::fork_slot* slot = sched::free_slot();
    slot->run = &kid::run;
    auto* rest = ::new (static_cast<void*>(slot->data))
        typename kid::payload{{&shared, first, last}, room.address()};
    // One call site for all indices: two would cost one more saved register, and leaves their short
    // way out.
    for (std::size_t i = first;; ++i) {
        const bool more = i + 1 < last;
        if (more) {
            rest->function.first = i + 1;
            sched::push_fork(slot);
        }
        // Under the guard of run_first as a whole: `reduce` may throw, too.
        auto one = [&] {
            value = std::invoke(what.reduce, std::move(value), T(what.transform(i)));
        };
        run_first<void>(one, more ? slot : nullptr, &kid::drop, room.memory());
        if (!more) return value;
        if (!sched::pop_fork(slot)) [[unlikely]] {
            if (slot->done.failed()) rethrow_from(slot);
            T* theirs;
            if constexpr (kid::result_in_slot)
                theirs = std::addressof(slot->as<T>());
            else
                theirs = room.address();
            destroy_after<T> guard{*theirs};
            return std::invoke(what.reduce, std::move(value), std::move(*theirs));
        }
    }
}

template <class T, class Reduce, class F>
T reduce_indices(reduction<T, Reduce, F>& what, T value, std::size_t first, std::size_t last) {
    return reduce_indices_here<T, Reduce, F>(what, std::move(value), first, last);
}

// Not inlined: the caller's own path for a leaf then needs no saved registers, and one call more is
// little against the children's (skynet(8), one worker, g++ 12: 1.2 instead of 1.6 times the plain
// function).
template <class T, class Reduce, class F>
[[gnu::noinline]] T reduce_count(reduction<T, Reduce, F>& what, T value, std::size_t count) {
    if (count == 1)
        return std::invoke(what.reduce, std::move(value), T(what.transform(0))); // nothing to fork
    if (sched::free_slot()) [[likely]]
        return reduce_indices_here<T, Reduce, F>(what, std::move(value), 0, count);
    return default_runtime().run(
        [&] { return reduce_indices<T, Reduce, F>(what, std::move(value), 0, count); });
}

} // namespace detail

// reduce(…reduce(reduce(init, transform(0)), transform(1))…, transform(count - 1)), grouped as it
// suits; what `transform` returns is converted to T first. `T` must be move-constructible and
// assignable.
template <class T, class Reduce, class F>
    requires std::invocable<F&, std::size_t> &&
             std::convertible_to<std::invoke_result_t<F&, std::size_t>, T>
T fork_reduce(std::size_t count, T init, Reduce&& reduce, F&& transform) {
    if (count == 0) return init; // dead ends are the most frequent nodes of many searches
    detail::reduction<T, std::remove_reference_t<Reduce>, std::remove_reference_t<F>> what{
        reduce, transform};
    return detail::reduce_count(what, std::move(init), count);
}

} // namespace sennit
