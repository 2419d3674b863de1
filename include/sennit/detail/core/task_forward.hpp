// SPDX-License-Identifier: Apache-2.0
// Declares task, for headers that only ask whether a type is one.
#pragma once

#include <type_traits>

namespace sennit {

template <class T = void>
class task;

namespace detail {

template <class T>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<task<T>> = true;

// True for a function that returns a task when it is called with arguments of these types.
template <class F, class... A>
concept returns_task =
    std::is_invocable_v<F, A...> && is_task<std::remove_cvref_t<std::invoke_result_t<F, A...>>>;

// The await of a type of another library. An optional header specialises it; `make(object)` then
// returns a task that awaits the object.
template <class A>
struct foreign_await {};
template <class A>
concept foreign_awaitable = requires { &foreign_await<std::remove_cvref_t<A>>::make; };

} // namespace detail
} // namespace sennit
