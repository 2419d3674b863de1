// SPDX-License-Identifier: Apache-2.0
// async: runs a function in a new fiber and returns a future of its result. spawn: the same, by its
// shorter name.
//
//     sennit::future<int> sum = sennit::async(add, 1, 2);
//
// Unlike std's, the future's destructor does not wait: who drops the future lets the fiber go on by
// itself. The fiber runs in the runtime that the caller runs in, in the default runtime when the
// caller is no worker; that must live until the fiber has ended. For a fiber that is joined at the
// end of a block use `fiber`; for a family, `nursery`.
//
// The function and its arguments are copied, and are gone before the future is ready. An exception
// goes into the future. Never blocks; `launch::now` runs the function at once and lets the caller
// go on later. Thread safety: may be called from anywhere. Throws std::bad_alloc and what copying
// throws. Cost: that of a detached fiber; state, closure and fiber are one piece of small memory.
#pragma once

#include "sennit/detail/core/here.hpp"
#include "sennit/fiber.hpp"
#include "sennit/future.hpp"

#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace sennit {

namespace detail {

template <class F, class... A>
struct call_once_with {
    std::tuple<F, A...> parts;
    template <class... B>
    explicit call_once_with(std::in_place_t, B&&... b) : parts(std::forward<B>(b)...) {}
    std::invoke_result_t<F, A...> operator()() {
        return std::apply(
            [](F& function, A&... arguments) -> std::invoke_result_t<F, A...> {
                return std::invoke(std::move(function), std::move(arguments)...);
            },
            parts);
    }
};

// `made_at`: see detail/core/here.hpp.
template <class F, class... A>
auto async_from(const void* made_at, launch policy, F&& function, A&&... arguments) {
    using result = std::invoke_result_t<std::decay_t<F>, std::decay_t<A>...>;
    using closure = detail::call_once_with<std::decay_t<F>, std::decay_t<A>...>;
    auto task = make_task<result, closure>(made_at, std::in_place, std::forward<F>(function),
                                           std::forward<A>(arguments)...);
    task->start(policy);
    return future_access::make<result>(std::move(task));
}

} // namespace detail

template <class F, class... A>
    requires std::is_invocable_v<std::decay_t<F>, std::decay_t<A>...>
[[gnu::always_inline]] inline auto async(launch policy, F&& function, A&&... arguments) {
    return detail::async_from(sched::here(), policy, std::forward<F>(function),
                              std::forward<A>(arguments)...);
}

template <class F, class... A>
    requires std::is_invocable_v<std::decay_t<F>, std::decay_t<A>...>
[[gnu::always_inline]] inline auto async(F&& function, A&&... arguments) {
    return detail::async_from(sched::here(), launch::enqueue, std::forward<F>(function),
                              std::forward<A>(arguments)...);
}

template <class F, class... A>
    requires std::is_invocable_v<std::decay_t<F>, std::decay_t<A>...>
[[gnu::always_inline]] inline auto spawn(F&& function, A&&... arguments) {
    return detail::async_from(sched::here(), launch::enqueue, std::forward<F>(function),
                              std::forward<A>(arguments)...);
}

} // namespace sennit
