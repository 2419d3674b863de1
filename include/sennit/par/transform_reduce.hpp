// SPDX-License-Identifier: Apache-2.0
// par::transform_reduce: transforms each element of a random-access range and reduces the results
// to one value, in parallel.
//
//     auto square = [](double v) { return v * v; };
//     double norm = sennit::par::transform_reduce(x, 0.0, std::plus<>(), square);
//     double same = sennit::par::transform_reduce(sennit::par::deterministic, x, 0.0,
//                                                 std::plus<>(), square);
//
// Use it for sums, counts, minima and the like over long ranges. For a few expensive calls use
// `fork_reduce`.
//
// Guarantees as for `par::for_each`. `reduce` must be associative. It need not be commutative:
// values meet in the order of their elements, `init` first. `T`, the type of `init`, must be
// move-constructible and assignable. Both callables must return a type that converts to `T`;
// `reduce` is called with two `T&&`.
// Fast form: values are grouped as the work was divided, so the last bits of floating-point results
// may differ from run to run. On one worker the grouping is that of std::accumulate.
// Deterministic form: values are grouped by a tree that depends only on the number of elements and
// the grain. The bits are therefore the same for any number of workers and in each run (of the same
// machine code). Without a grain its leaves are blocks of n/256 elements, at least 1 and at most
// 4096; they are not divided further.
// Exceptions and cost as for `par::for_each`; a block of the deterministic form costs about 3 ns.
#pragma once

#include "sennit/detail/base/refused.hpp"
#include "sennit/par/for_each.hpp"

#include <algorithm>
#include <concepts>

namespace sennit::par {

namespace detail {

template <class T, class Iterator, class Reduce, class Transform>
struct fold_elements {
    using value_type = T;
    using element = std::iter_reference_t<Iterator>;
    static constexpr bool never_throws =
        never_throws_going<Iterator> && std::is_nothrow_invocable_v<Transform&, element> &&
        std::is_nothrow_constructible_v<T, std::invoke_result_t<Transform&, element>> &&
        std::is_nothrow_invocable_v<Reduce&, T, T> &&
        std::is_nothrow_constructible_v<T, std::invoke_result_t<Reduce&, T, T>> &&
        std::is_nothrow_move_assignable_v<T> && std::is_nothrow_move_constructible_v<T>;

    Iterator begin;
    own_copy<Reduce> reduce;
    own_copy<Transform> transform;

    [[gnu::always_inline]] void run(std::optional<T>& value, std::size_t first,
                                    std::size_t last) const {
        own_copy<Transform> change = transform;
        own_copy<Reduce> add = reduce;
        Iterator at = advanced(begin, first);
        std::size_t left = last - first;
        if (!value) {
            value.emplace(std::invoke(change, *at));
            ++at;
            --left;
        }
        T sum = std::move(*value); // a local variable, which can live in a register
        for (; left != 0; --left, (void)++at)
            sum = static_cast<T>(
                std::invoke(add, std::move(sum), static_cast<T>(std::invoke(change, *at))));
        *value = std::move(sum);
    }
    T join(T low, T high) const {
        own_copy<Reduce> add = reduce;
        return std::invoke(add, std::move(low), std::move(high));
    }
};

// Evaluates the deterministic tree over the blocks [first, last), of which there is at least one.
template <class Work>
typename Work::value_type fold_blocks(const Work& work, std::size_t block, std::size_t count,
                                      std::size_t first, std::size_t last) {
    if (last - first == 1) {
        partial<Work> value;
        run_chunk<Work>(work, value, first * block,
                        std::min(count - first * block, block) + first * block);
        return std::move(*value);
    }
    const std::size_t half = first + (last - first) / 2;
    auto lower = [&] { return fold_blocks(work, block, count, first, half); };
    auto upper = [&] { return fold_blocks(work, block, count, half, last); };
    auto [low, high] = sennit::detail::fork_two(lower, upper);
    return work.join(std::move(low), std::move(high));
}

inline std::size_t block_size(std::size_t count, grain wanted) noexcept {
    if (wanted.elements != 0) return wanted.elements;
    return std::clamp<std::size_t>(count / 256, 1, 4096);
}

template <class Work>
typename Work::value_type fold_in_blocks(const Work& work, typename Work::value_type init,
                                         std::size_t count, grain wanted) {
    if (count == 0) return init;
    const std::size_t block = block_size(count, wanted);
    const std::size_t blocks = count / block + (count % block != 0);
    auto all = [&] {
        return work.join(std::move(init), fold_blocks(work, block, count, 0, blocks));
    };
    if (sched::free_slot()) [[likely]]
        return all();
    return default_runtime().run(all);
}

template <class T, class F, class Iterator>
concept transform_for =
    std::invocable<F&, std::iter_reference_t<Iterator>> &&
    std::convertible_to<std::invoke_result_t<F&, std::iter_reference_t<Iterator>>, T>;
template <class T, class F>
concept reduction_of =
    std::invocable<F&, T, T> && std::convertible_to<std::invoke_result_t<F&, T, T>, T>;

template <class T, class Iterator, class Reduce, class Transform>
using fold_for =
    fold_elements<T, Iterator, std::remove_reference_t<Reduce>, std::remove_reference_t<Transform>>;

} // namespace detail

template <std::random_access_iterator Iterator, std::sized_sentinel_for<Iterator> Sentinel,
          std::movable T, class Reduce, class Transform>
// Returns the fast form of the reduction of [first, last). Blocks until all calls have ended.
// Throws the exception of the first element that throws.
    requires detail::reduction_of<T, Reduce> && detail::transform_for<T, Transform, Iterator>
T transform_reduce(Iterator first, Sentinel last, T init, Reduce&& reduce, Transform&& transform,
                   grain smallest = {}) {
    const detail::fold_for<T, Iterator, Reduce, Transform> work{first, reduce, transform};
    return std::move(*detail::run_loop(work, std::optional<T>(std::move(init)),
                                       static_cast<std::size_t>(last - first), smallest));
}

template <std::ranges::random_access_range Range, std::movable T, class Reduce, class Transform>
    requires std::ranges::sized_range<Range> && detail::reduction_of<T, Reduce> &&
             detail::transform_for<T, Transform, std::ranges::iterator_t<Range>>
// Returns the fast form of the reduction of `range`. Blocks and throws like the form for iterators.
T transform_reduce(Range&& range, T init, Reduce&& reduce, Transform&& transform,
                   grain smallest = {}) {
    const auto first = std::ranges::begin(range);
    const auto count =
        static_cast<std::ranges::range_difference_t<Range>>(std::ranges::size(range));
    return par::transform_reduce(first, first + count, std::move(init), reduce, transform,
                                 smallest);
}

template <std::random_access_iterator Iterator, std::sized_sentinel_for<Iterator> Sentinel,
          std::movable T, class Reduce, class Transform>
// Returns the deterministic form of the reduction of [first, last). `block` is the size of a
// leaf. Blocks and throws like the fast form.
    requires detail::reduction_of<T, Reduce> && detail::transform_for<T, Transform, Iterator>
T transform_reduce(deterministic_t, Iterator first, Sentinel last, T init, Reduce&& reduce,
                   Transform&& transform, grain block = {}) {
    const detail::fold_for<T, Iterator, Reduce, Transform> work{first, reduce, transform};
    return detail::fold_in_blocks(work, std::move(init), static_cast<std::size_t>(last - first),
                                  block);
}

template <std::ranges::random_access_range Range, std::movable T, class Reduce, class Transform>
    requires std::ranges::sized_range<Range> && detail::reduction_of<T, Reduce> &&
             detail::transform_for<T, Transform, std::ranges::iterator_t<Range>>
// Returns the deterministic form of the reduction of `range`. Blocks and throws like the form for
// iterators.
T transform_reduce(deterministic_t, Range&& range, T init, Reduce&& reduce, Transform&& transform,
                   grain block = {}) {
    const auto first = std::ranges::begin(range);
    const auto count =
        static_cast<std::ranges::range_difference_t<Range>>(std::ranges::size(range));
    return par::transform_reduce(deterministic, first, first + count, std::move(init), reduce,
                                 transform, block);
}

// Explains a call that the other overloads refuse.
template <class First, class... Rest>
    requires(!std::same_as<std::decay_t<First>, deterministic_t>)
base::refused_call transform_reduce(First&&, Rest&&...) {
    constexpr bool random = detail::has_random_access<First>;
    static_assert(random || base::refused<First>,
                  "sennit: par::transform_reduce needs random access to the elements; copy the "
                  "list into a std::vector");
    static_assert(!random || base::refused<First>,
                  "sennit: par::transform_reduce takes the elements, init, `reduce` of two values "
                  "of init's type, and `transform` of one element; both results must convert to "
                  "init's type, so give init the type of the result");
    return {};
}
template <class First, class... Rest>
base::refused_call transform_reduce(deterministic_t, First&& first, Rest&&... rest) {
    return par::transform_reduce(std::forward<First>(first), std::forward<Rest>(rest)...);
}

} // namespace sennit::par
