// SPDX-License-Identifier: Apache-2.0
// fork_reduce: calls one callable for each of n indices in parallel, and combines the results on
// the way.
//
// Use it when only the combination of the children's results matters: a count, a sum, a best move.
// It stores no single result, so it is the cheapest form of a family of calls over indices. For the
// single results use `fork_each`; for long ranges of cheap elements use `par::transform_reduce`.
//
//     long solutions = sennit::fork_reduce(moves, 0L, std::plus<>{},
//                                          [&](std::size_t i) { return solve(after(i)); });
//
// Guarantees as for `fork_each`. `reduce` must be associative. It is applied in the order of the
// indices, but grouped as the work was divided. For floating-point numbers the last bits may
// therefore differ from run to run.
//
// Cost of a child that is not stolen: about 1 ns, without allocation.
#pragma once

#include "sennit/detail/base/refused.hpp"
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

// Runs [first, last), which holds at least one index, on a thief. The function halves the range, so
// that all waiting indices are on offer while one runs.
template <class T, class Reduce, class F>
T reduce_stolen(reduction<T, Reduce, F>& what, std::size_t first, std::size_t last) {
    if (last - first == 1) return T(what.transform(first));
    const std::size_t half = first + (last - first + 1) / 2;
    auto lower = [&] { return reduce_stolen<T, Reduce, F>(what, first, half); };
    auto upper = [&] { return reduce_stolen<T, Reduce, F>(what, half, last); };
    auto [low, high] = fork_two_on_worker(lower, upper);
    return std::invoke(what.reduce, std::move(low), std::move(high));
}

// One slot stands for all indices after the running one, as in fork_indices. A thief leaves the
// reduction of its indices in the slot.
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
    // The loop has one call site for all indices. A second call site would cost one more saved
    // register, and the last index needs no push and pop.
    for (std::size_t i = first;; ++i) {
        const bool more = i + 1 < last;
        if (more) {
            rest->function.first = i + 1;
            sched::push_fork(slot);
        }
        // run_first guards both calls, because `reduce` may throw, too.
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

// Not inlined. The caller's own path for a leaf then needs no saved registers, and one more call is
// cheap compared with the children. (skynet(8), one worker, g++ 12: 1.2 times the time of the plain
// function instead of 1.6 times.)
template <class T, class Reduce, class F>
[[gnu::noinline]] T reduce_count(reduction<T, Reduce, F>& what, T value, std::size_t count) {
    // A single index needs no fork.
    if (count == 1) return std::invoke(what.reduce, std::move(value), T(what.transform(0)));
    if (sched::free_slot()) [[likely]]
        return reduce_indices_here<T, Reduce, F>(what, std::move(value), 0, count);
    auto all = [&] { return reduce_indices<T, Reduce, F>(what, std::move(value), 0, count); };
    return on_default_runtime(all);
}

template <class T, class F>
concept index_transform = std::invocable<F&, std::size_t> &&
                          std::convertible_to<std::invoke_result_t<F&, std::size_t>, T>;
template <class T, class F>
concept reduction_to =
    std::invocable<F&, T, T> && std::convertible_to<std::invoke_result_t<F&, T, T>, T>;

} // namespace detail

// Returns reduce(…reduce(reduce(init, transform(0)), transform(1))…, transform(count - 1)), with a
// grouping that depends on how the work was divided. The results of `transform` are converted to T
// first. `T` must be move-constructible and assignable. Blocks until all calls have ended. Throws
// the exception of the lowest range in which `transform` or `reduce` threw.
template <class T, class Reduce, class F>
    requires detail::index_transform<T, F> && detail::reduction_to<T, Reduce>
T fork_reduce(std::size_t count, T init, Reduce&& reduce, F&& transform) {
    // Dead ends are the most frequent nodes of many searches.
    if (count == 0) return init;
    detail::reduction<T, std::remove_reference_t<Reduce>, std::remove_reference_t<F>> what{
        reduce, transform};
    return detail::reduce_count(what, std::move(init), count);
}
// Explains a call that the other overload refuses.
template <class T, class Reduce, class F>
base::refused_call fork_reduce(std::size_t, T, Reduce&&, F&&) {
    static_assert(detail::reduction_to<T, Reduce> || base::refused<T>,
                  "sennit: fork_reduce joins two values of init's type by `reduce`, and its result "
                  "must convert to that type; give init the type of the result");
    static_assert(detail::index_transform<T, F> || base::refused<T>,
                  "sennit: fork_reduce calls `transform` with a std::size_t, and its result must "
                  "convert to init's type; give init the type of the result");
    return {};
}

} // namespace sennit
