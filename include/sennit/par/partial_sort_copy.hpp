// SPDX-License-Identifier: Apache-2.0
// par::partial_sort_copy: copies the smallest elements of a range to an output, sorted, in
// parallel.
//
//     std::vector<order> cheapest(10);
//     sennit::par::partial_sort_copy(orders, cheapest, {}, &order::price, &order::price);
//
// Use it for few elements of many, or where the input must stay. `par::partial_sort` works in place
// and is faster for many elements.
//
// Guarantees, exceptions and cancellation as for `par::for_each`; the output has unspecified values
// after an exception. The order of equal elements is unspecified. Cost for an output of k elements:
// up to n log k comparisons; most elements need one. Each worker that joins in keeps k elements.
#pragma once

#include "sennit/par/sort.hpp"

#include <vector>

namespace sennit::par {

namespace detail {

// The partial result of a range: a heap of its smallest elements, the greatest of them in front.
template <class T, class I, class Less, class Proj1, class Proj2>
struct smallest_work {
    using value_type = std::vector<T>;
    static constexpr bool never_throws = false;

    I first;
    std::size_t most;
    shared_callable<Less> less;
    shared_callable<Proj1> proj1; // of the input
    shared_callable<Proj2> proj2; // of the output

    void run(std::optional<value_type>& heap, std::size_t from, std::size_t to) const {
        own_copy<Less> compare = less.call;
        own_copy<Proj1> part1 = proj1.call;
        own_copy<Proj2> part2 = proj2.call;
        if (!heap) heap.emplace();
        I at = advanced(first, from);
        for (; from != to; ++from, (void)++at) {
            if (heap->size() == most &&
                !std::invoke(compare, std::invoke(part1, *at), std::invoke(part2, heap->front())))
                continue;
            add(*heap, *at);
        }
    }
    value_type join(value_type low, value_type high) const {
        own_copy<Less> compare = less.call;
        own_copy<Proj2> part = proj2.call;
        for (T& element : high)
            if (low.size() != most ||
                std::invoke(compare, std::invoke(part, element), std::invoke(part, low.front())))
                add(low, std::move(element));
        return low;
    }

private:
    template <class Element>
    void add(value_type& heap, Element&& element) const {
        own_copy<Less> compare = less.call;
        own_copy<Proj2> part = proj2.call;
        if (heap.size() == most) {
            std::ranges::pop_heap(heap, std::ref(compare), std::ref(part));
            heap.back() = T(std::forward<Element>(element));
        } else {
            heap.push_back(T(std::forward<Element>(element)));
        }
        std::ranges::push_heap(heap, std::ref(compare), std::ref(part));
    }
};

struct partial_sort_copy_calls {
    template <class I, class O, class Less, class Proj1, class Proj2>
    static constexpr bool accepts =
        std::sortable<O, Less, Proj2> && !shares_words<O> &&
        std::constructible_from<std::iter_value_t<O>, std::iter_reference_t<I>> &&
        std::indirect_strict_weak_order<Less, std::projected<I, Proj1>, std::projected<O, Proj2>>;

    template <class I, class O, class Less, class Proj1, class Proj2>
    static std::ranges::in_out_result<I, O> run(const with& options, I first, std::size_t n, O out,
                                                std::size_t room, Less& less, Proj1& proj1,
                                                Proj2& proj2) {
        using value = std::iter_value_t<O>;
        using work = smallest_work<value, I, Less, Proj1, Proj2>;
        const std::size_t count = std::min(n, room);
        if (count != 0) {
            auto heap = run_loop(work{first, count, {less}, {proj1}, {proj2}}, {}, n, options);
            const auto sorted = heap->begin();
            sort_algorithm::run(options, sorted, count, less, proj2);
            std::ranges::move(sorted, heap->end(), out);
        }
        return {advanced(first, n), advanced(out, count)};
    }

    template <std::random_access_iterator I, sized_end_of<I> S, std::random_access_iterator O,
              sized_end_of<O> OS, class Less = std::ranges::less, class Proj1 = std::identity,
              class Proj2 = std::identity>
        requires(accepts<I, O, Less, Proj1, Proj2>)
    auto operator()(const with& options, I first, S last, O out, OS out_last, Less less = {},
                    Proj1 proj1 = {}, Proj2 proj2 = {}) const {
        return run(options, first, distance_of(first, last), out, distance_of(out, out_last), less,
                   proj1, proj2);
    }
    template <divisible_range R, divisible_range OR, class Less = std::ranges::less,
              class Proj1 = std::identity, class Proj2 = std::identity>
        requires(
            accepts<std::ranges::iterator_t<R>, std::ranges::iterator_t<OR>, Less, Proj1, Proj2>)
    auto operator()(const with& options, R&& range, OR&& out, Less less = {}, Proj1 proj1 = {},
                    Proj2 proj2 = {}) const {
        return borrowed_in_out<R, OR>(run(options, std::ranges::begin(range), size_of(range),
                                          std::ranges::begin(out), size_of(out), less, proj1,
                                          proj2));
    }
    template <std::random_access_iterator I, sized_end_of<I> S, std::random_access_iterator O,
              sized_end_of<O> OS, class Less = std::ranges::less, class Proj1 = std::identity,
              class Proj2 = std::identity>
        requires(accepts<I, O, Less, Proj1, Proj2>)
    auto operator()(I first, S last, O out, OS out_last, Less less = {}, Proj1 proj1 = {},
                    Proj2 proj2 = {}) const {
        return run(automatic, first, distance_of(first, last), out, distance_of(out, out_last),
                   less, proj1, proj2);
    }
    template <divisible_range R, divisible_range OR, class Less = std::ranges::less,
              class Proj1 = std::identity, class Proj2 = std::identity>
        requires(
            accepts<std::ranges::iterator_t<R>, std::ranges::iterator_t<OR>, Less, Proj1, Proj2>)
    auto operator()(R&& range, OR&& out, Less less = {}, Proj1 proj1 = {}, Proj2 proj2 = {}) const {
        return (*this)(automatic, std::forward<R>(range), std::forward<OR>(out), std::move(less),
                       std::move(proj1), std::move(proj2));
    }

    template <class... Args>
    static constexpr void refuse() {
        static_assert(base::refused<Args...>,
                      "sennit: par::partial_sort_copy takes the options or nothing, the elements, "
                      "an output with an end (a range, or two iterators of it), a comparison of "
                      "two elements, and a projection of the input and one of the output");
    }
};

} // namespace detail

// partial_sort_copy(range, out, comp = less, proj1 = {}, proj2 = {}), partial_sort_copy(first,
// last, out, out_last, …), both with options in front. Copies the smallest elements, as many as
// both ranges have, to the output in sorted order. Blocks until they are written. Returns {in,
// out}: the end of the input and the end of the written output. Throws one of the exceptions of the
// callables and copies, std::bad_alloc, and `cancelled`.
inline constexpr detail::algorithm<detail::partial_sort_copy_calls> partial_sort_copy{};

} // namespace sennit::par
