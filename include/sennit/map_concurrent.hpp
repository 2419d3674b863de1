// SPDX-License-Identifier: Apache-2.0
// map_concurrent, for_each_concurrent: call a function for each element of a range, each call in a
// fiber of its own, with at most a given number of calls at a time.
//
//     std::vector<page> pages = sennit::map_concurrent(urls, 16, fetch);      // in input order
//     sennit::for_each_concurrent(orders, 8, [](const order& o) { ship(o); });
//
// Use them for calls that wait: for other fibers, messages, time. For calls that compute use
// `par::transform` and `par::for_each`, which need no fiber for each element and take no limit but
// the number of workers. To use each result as soon as it is there use `as_completed`. For children
// that are no elements of a range use a `nursery` with a limit, on which both functions are built.
//
// Guarantees. The caller reads the range lazily: one element when a place is free, so a range may
// be endless, slow or a channel. All calls have ended when the function returns or throws, however
// it ends. The first exception cancels the other calls and a blocked read of the range, and is
// thrown; an exception of the range itself does so, too. A limit of 1 calls the function for one
// element after the other. A limit of 0 ends the program with a message.
// Elements. The function gets a reference to the element if the range is a forward range of
// lvalues, such as a container. Other ranges (generators, channels, transformed views) hand their
// elements over by move; they may be move-only.
// The function object is shared by all calls, which may run at the same time on several workers.
// Blocking: until all calls have ended. Cancellation: throws `cancelled`. Thread safety: any thread
// or fiber may call both; the calls run in the caller's runtime, or in the default runtime.
// Cost: a child of a nursery for each element, and for map_concurrent a place in a deque.
#pragma once

#include "sennit/bounded/detail/feed.hpp"
#include "sennit/detail/base/refused.hpp"
#include "sennit/detail/core/here.hpp"
#include "sennit/nursery.hpp"

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

namespace sennit {

// Calls `function(element)` for each element of the range, at most `limit` calls at a time. Ignores
// the results.
template <std::ranges::input_range R, class F>
    requires detail::function_of_elements<R, std::decay_t<F>>
[[gnu::always_inline]] inline void for_each_concurrent(R&& range, std::size_t limit, F&& function) {
    using closure = std::decay_t<F>;
    const void* made_at = sched::here();
    closure shared(std::forward<F>(function));
    nursery calls({.limit = limit});
    detail::feed<closure>(calls, range, [&](auto one) {
        detail::nursery_access::start_with_place(
            calls, made_at, [&shared, one = std::move(one)]() mutable { one.call_with(shared); });
    });
    calls.join();
}

// Calls `function(element)` for each element of the range, at most `limit` calls at a time. Returns
// the results in the order of the elements. A reference that the function returns is copied. The
// result type must be movable.
template <std::ranges::input_range R, class F>
    requires detail::function_of_elements<R, std::decay_t<F>> &&
             std::move_constructible<detail::result_of_element<R, std::decay_t<F>>>
[[gnu::always_inline]] inline std::vector<detail::result_of_element<R, std::decay_t<F>>>
map_concurrent(R&& range, std::size_t limit, F&& function) {
    using closure = std::decay_t<F>;
    using result = detail::result_of_element<R, closure>;
    const void* made_at = sched::here();
    closure shared(std::forward<F>(function));
    std::deque<std::optional<result>> results; // its elements stay where they are while it grows
    nursery calls({.limit = limit});
    detail::feed<closure>(calls, range, [&](auto one) {
        std::optional<result>* to = std::addressof(results.emplace_back());
        detail::nursery_access::start_with_place(
            calls, made_at,
            [&shared, to, one = std::move(one)]() mutable { to->emplace(one.call_with(shared)); });
    });
    calls.join();
    std::vector<result> all;
    all.reserve(results.size());
    for (std::optional<result>& one : results) all.push_back(std::move(*one));
    return all;
}

// Explain calls that the other overloads refuse.
template <class R, class F>
base::refused_call for_each_concurrent(R&&, std::size_t, F&&) {
    static_assert(base::refused<R, F>,
                  "sennit: for_each_concurrent takes a range, a limit, and a function that it "
                  "calls with one element; elements of generators and channels are moved");
    return {};
}
template <class R, class F>
base::refused_call map_concurrent(R&&, std::size_t, F&&) {
    static_assert(base::refused<R, F>,
                  "sennit: map_concurrent takes a range, a limit, and a function that it calls "
                  "with one element and whose result is movable; for a function without a result "
                  "use for_each_concurrent");
    return {};
}

} // namespace sennit
