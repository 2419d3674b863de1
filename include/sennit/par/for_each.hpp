// SPDX-License-Identifier: Apache-2.0
// par::for_each: calls one callable for each element of a random-access range, in parallel.
//
// Use it for any loop whose iterations do not depend on each other, even over cheap elements: the
// loop chooses its chunks itself. Do not use it to spawn tasks that wait for each other; elements
// of one chunk run one after the other.
//
//     sennit::par::for_each(pixels, [](pixel& p) { p = tone_map(p); });
//     sennit::par::for_each(rows.begin(), rows.end(), solve, sennit::par::grain{4});
//
// Guarantees. Each element is visited exactly once; neighbours in one chunk are visited in order.
// All calls have ended when the loop returns or throws. Several workers call `f` at the same time;
// `f` is copied if it is trivially copyable and at most 64 bytes. A call of `f` may wait in any
// call of Sennit, fork, or run a loop of its own. A system call blocks its worker. On a thread that
// is no worker, the loop runs on the default runtime and blocks the thread.
//
// Exceptions. The loop throws the exception of the first element, in order, that throws. Chunks
// behind that element that have not started are dropped.
//
// The loop sizes a chunk by the time that the elements before it took. If elements suddenly become
// a thousand times more expensive, one worker still finishes its present chunk: at most a sixteenth
// of the rest of the range, or 2.5 µs of the cheap elements. A grain cannot shorten a chunk,
// because it is a lower bound. `fork_each` has no chunks: a free worker can take every element that
// has not started.
//
// Cost with one worker: the time of the plain loop and about 30 ns for each chunk. That is 30 ns
// for one element, and 60 to 160 ns for up to 10,000 cheap elements (g++ 12 -O3, AMD EPYC). With
// two workers it is 30 ns for one element, 200 for 100 and 1.7 µs for 10,000, because the second
// worker takes a part. No allocation.
#pragma once

#include "sennit/detail/base/refused.hpp"
#include "sennit/par/detail/lazy_loop.hpp"

#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>

namespace sennit::par {

namespace detail {

template <class Iterator>
constexpr Iterator advanced(const Iterator& from, std::size_t by) {
    return from + static_cast<std::iter_difference_t<Iterator>>(by);
}

struct no_value {};

// True if traversing a range and reading its elements cannot throw.
template <class Iterator>
inline constexpr bool never_throws_going =
    noexcept(*std::declval<Iterator&>()) && noexcept(++std::declval<Iterator&>()) &&
    noexcept(std::declval<const Iterator&>() + std::iter_difference_t<Iterator>()) &&
    std::is_nothrow_copy_constructible_v<Iterator>;

// Calls `function(*i)` for each iterator of a chunk.
template <class Iterator, class F>
struct visit_elements {
    using value_type = no_value;
    static constexpr bool never_throws =
        never_throws_going<Iterator> &&
        std::is_nothrow_invocable_v<F&, std::iter_reference_t<Iterator>>;

    Iterator begin;
    own_copy<F> function;

    [[gnu::always_inline]] void run(std::optional<no_value>&, std::size_t first,
                                    std::size_t last) const {
        own_copy<F> f = function;
        Iterator at = advanced(begin, first);
        for (std::size_t left = last - first; left != 0; --left, (void)++at) std::invoke(f, *at);
    }
    no_value join(no_value, no_value) const noexcept { return {}; }
};

// True if the first argument of a loop is one that the loop can divide.
template <class First>
inline constexpr bool has_random_access =
    std::random_access_iterator<std::decay_t<First>> ||
    (std::ranges::random_access_range<First> && std::ranges::sized_range<First>);

} // namespace detail

// Calls `f(*i)` for each iterator of [first, last). Blocks until all calls have ended. Throws the
// exception of the first element that throws.
template <std::random_access_iterator Iterator, std::sized_sentinel_for<Iterator> Sentinel, class F>
    requires std::invocable<F&, std::iter_reference_t<Iterator>>
void for_each(Iterator first, Sentinel last, F&& f, grain smallest = {}) {
    using work = detail::visit_elements<Iterator, std::remove_reference_t<F>>;
    detail::run_loop(work{first, f}, {}, static_cast<std::size_t>(last - first), smallest);
}

template <std::ranges::random_access_range Range, class F>
    requires std::ranges::sized_range<Range> &&
             std::invocable<F&, std::ranges::range_reference_t<Range>>
// Calls `f(element)` for each element of `range`. Blocks and throws like the form for iterators.
void for_each(Range&& range, F&& f, grain smallest = {}) {
    const auto first = std::ranges::begin(range);
    using work = detail::visit_elements<std::ranges::iterator_t<Range>, std::remove_reference_t<F>>;
    detail::run_loop(work{first, f}, {}, static_cast<std::size_t>(std::ranges::size(range)),
                     smallest);
}
// Explains a call that the other overloads refuse.
template <class First, class... Rest>
base::refused_call for_each(First&&, Rest&&...) {
    constexpr bool random = detail::has_random_access<First>;
    static_assert(random || base::refused<First>,
                  "sennit: par::for_each needs random access to the elements; copy the list into a "
                  "std::vector, or spawn a child for each element in a sennit::scope");
    static_assert(!random || base::refused<First>,
                  "sennit: par::for_each takes a range or two iterators of it, and a function that "
                  "it calls with one element; give the function one parameter of that type");
    return {};
}

} // namespace sennit::par
