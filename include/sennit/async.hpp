// SPDX-License-Identifier: Apache-2.0
// async: runs a function in a new fiber and returns a future of its result. spawn is a shorter name
// for async.
//
//     sennit::future<int> sum = sennit::async(add, 1, 2);
//
// Unlike in std, the future's destructor does not wait: without its future the fiber runs on by
// itself. The fiber runs in the caller's runtime, or in the default runtime when the caller is no
// worker. That runtime must live until the fiber has ended. For a fiber that is joined at the end
// of a block use `fiber`; for a group use `nursery`.
//
// The function and its arguments are copied, and are destroyed before the future is ready. An
// exception goes into the future. The call never blocks. With `launch::now` the function runs
// immediately, and the caller becomes ready. Thread safety: any thread or fiber may call it. Throws
// std::bad_alloc and the exceptions of the copies. Cost: that of a detached fiber. State, closure
// and fiber are one block of small memory.
#pragma once

#include "sennit/detail/base/refused.hpp"
#include "sennit/detail/core/here.hpp"
#include "sennit/detail/core/task_forward.hpp"
#include "sennit/fiber.hpp"
#include "sennit/future.hpp"
#include "sennit/task_attributes.hpp"

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

// `made_at` is explained in detail/core/here.hpp.
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

// Runs `function(arguments...)` in a new fiber that starts by `policy`, and returns a future of the
// result.
template <class F, class... A>
    requires std::is_invocable_v<std::decay_t<F>, std::decay_t<A>...> &&
             (!detail::returns_task<std::decay_t<F>, std::decay_t<A>...>)
[[gnu::always_inline]] inline auto async(launch policy, F&& function, A&&... arguments) {
    return detail::async_from(sched::here(), policy, std::forward<F>(function),
                              std::forward<A>(arguments)...);
}

// Runs `function(arguments...)` in a new fiber, and returns a future of the result.
template <class F, class... A>
    requires std::is_invocable_v<std::decay_t<F>, std::decay_t<A>...> &&
             (!detail::returns_task<std::decay_t<F>, std::decay_t<A>...>)
[[gnu::always_inline]] inline auto async(F&& function, A&&... arguments) {
    return detail::async_from(sched::here(), launch::enqueue, std::forward<F>(function),
                              std::forward<A>(arguments)...);
}

// Does the same work as async under a shorter name.
template <class F, class... A>
    requires detail::no_task_attributes<F> &&
             std::is_invocable_v<std::decay_t<F>, std::decay_t<A>...> &&
             (!detail::returns_task<std::decay_t<F>, std::decay_t<A>...>)
[[gnu::always_inline]] inline auto spawn(F&& function, A&&... arguments) {
    return detail::async_from(sched::here(), launch::enqueue, std::forward<F>(function),
                              std::forward<A>(arguments)...);
}

// Explains a call that the other overloads refuse.
template <class F, class... A>
base::refused_call async(F&&, A&&...) {
    static_assert(base::refused<F>,
                  "sennit: async calls the function with copies of the arguments, and the function "
                  "does not take these; use std::ref for a reference, or capture the arguments in "
                  "a lambda");
    return {};
}
template <class F, class... A>
    requires detail::no_task_attributes<F>
base::refused_call spawn(F&&, A&&...) {
    static_assert(base::refused<F>,
                  "sennit: spawn calls the function with copies of the arguments, and the function "
                  "does not take these; use std::ref for a reference, or capture the arguments in "
                  "a lambda");
    return {};
}

} // namespace sennit
