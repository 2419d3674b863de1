// SPDX-License-Identifier: Apache-2.0
// async_fork_join: a task runs tasks in parallel, and awaits all their results.
//
//     sennit::task<long> fib(int n) {
//         if (n < 2) co_return n;
//         auto [a, b] = co_await sennit::async_fork_join(fib(n - 1), fib(n - 2));
//         co_return a + b;
//     }
//
// Use it for divide and conquer whose parts may wait: a child may await whatever a task may. For a
// number of children known only at run time use async_fork_each. For independent tasks that wait
// for long use async_all, which begins all of them before one continues, and cancels the others
// when one fails. Code that never waits is cheaper in the plain functions of fork_join.
//
// An argument is a task that has not begun, or a function without arguments: a function that
// returns a task, or a plain function. The first child begins at once, as a part of the awaiting
// task. The awaiting task also runs the other children in order, except those that a free worker
// takes. If a child waits, the children behind it begin without it. All children have ended when
// the await returns.
//
// The await returns a std::tuple of the results in the order of the arguments, with std::monostate
// for void; nothing if all results are void. The arguments are moved into the awaiting task's
// frame. g++ 12 destroys some temporaries of a co_await expression twice (GCC PR 99576): name a
// lambda whose captures are not trivial before the await.
//
// Exceptions. If a child throws, the children behind it that have not begun are dropped, and the
// await throws the exception of the first child in order that threw, once the running children have
// ended. Cancellation: the await is no point of cancellation, but a wait of each child is.
//
// Cost. A child that is not taken costs its frame: no allocation besides it, and no locked
// instruction. A child that another worker takes, or that begins because an earlier one waits,
// costs a strand, less than 1 µs.
#pragma once

#include "sennit/detail/base/refused.hpp"
#include "sennit/detail/core/task_fork.hpp"
#include "sennit/detail/core/task_result.hpp"
#include "sennit/task/task.hpp"

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace sennit {

namespace detail {

// A child of a fork: a task, or a function.
template <class F>
struct forked_child {
    using returned = std::invoke_result_t<F&>;
    static constexpr bool makes_task = is_task<std::remove_cvref_t<returned>>;
    static decltype(auto) make(F& function) { return function(); }
};
template <class T>
struct forked_child<task<T>> {
    using returned = task<T>;
    static constexpr bool makes_task = true;
    static task<T> make(task<T>& made) noexcept { return std::move(made); }
};
template <class R>
struct value_of_child {
    using type = R;
};
template <class T>
struct value_of_child<task<T>> {
    using type = T;
};
template <class F>
using forked_value = typename value_of_child<std::conditional_t<
    forked_child<F>::makes_task, std::remove_cvref_t<typename forked_child<F>::returned>,
    typename forked_child<F>::returned>>::type;

template <class F>
concept forkable = is_task<F> || std::invocable<F&>;

struct no_walk_data {};

template <class... F>
class fork_awaiter final : public sched::awaitable,
                           public sched::typed_task_fork<fork_awaiter<F...>, no_walk_data> {
public:
    explicit fork_awaiter(std::tuple<F...>&& children)
        : fork_awaiter::typed_task_fork(sched::this_strand().scope),
          functions_(std::move(children)) {}
    fork_awaiter(const fork_awaiter&) = delete;

    static constexpr bool await_ready() noexcept { return false; }
    SENNIT_START_OF_FORK std::coroutine_handle<>
    await_suspend(std::coroutine_handle<> caller) noexcept {
        return this->start(sizeof...(F), caller);
    }
    auto await_resume() {
        this->end_join();
        return collect(std::index_sequence_for<F...>());
    }

    // The interface to typed_task_fork.
    [[gnu::always_inline]] std::coroutine_handle<> begin(no_walk_data&, std::uint32_t index,
                                                         std::coroutine_handle<> after) noexcept {
        return begin_at<0>(index, after);
    }
    bool ended(no_walk_data&, std::uint32_t index) noexcept { return !failed_at<0>(index); }
    void out_of_memory(std::uint32_t index) noexcept { fail_at<0>(index); }

private:
    template <std::size_t I>
    [[gnu::always_inline]] std::coroutine_handle<>
    begin_at(std::uint32_t index, std::coroutine_handle<> after) noexcept {
        if constexpr (I + 1 < sizeof...(F)) {
            if (index != I) return begin_at<I + 1>(index, after);
        }
        return begin_child(std::get<I>(functions_), std::get<I>(results_), after);
    }
    template <std::size_t I>
    bool failed_at(std::uint32_t index) const noexcept {
        if constexpr (I + 1 < sizeof...(F)) {
            if (index != I) return failed_at<I + 1>(index);
        }
        return std::get<I>(results_).failed();
    }
    template <std::size_t I>
    void fail_at(std::uint32_t index) noexcept {
        if constexpr (I + 1 < sizeof...(F)) {
            if (index != I) return fail_at<I + 1>(index);
        }
        std::get<I>(results_).set_error(std::make_exception_ptr(std::bad_alloc()));
    }
    template <class G, class R>
    [[gnu::always_inline]] static std::coroutine_handle<>
    begin_child(G& function, task_result<R>& result, std::coroutine_handle<> after) noexcept {
        try {
            if constexpr (forked_child<G>::makes_task) {
                return task_access::begin(forked_child<G>::make(function), result, after);
            } else if constexpr (std::is_void_v<R>) {
                function();
                result.set_value();
            } else if constexpr (std::is_reference_v<R>) {
                result.set_value(std::addressof(function()));
            } else {
                result.set_value(function());
            }
        } catch (...) {
            result.set_error(std::current_exception());
        }
        return nullptr;
    }
    template <std::size_t... I>
    auto collect(std::index_sequence<I...>) {
        (std::get<I>(results_).rethrow_if_failed(), ...);
        if constexpr (!(std::is_void_v<forked_value<F>> && ...))
            return std::tuple<child_value<forked_value<F>>...>{
                take_child(std::get<I>(results_))...};
    }

    std::tuple<F...> functions_;
    std::tuple<task_result<forked_value<F>>...> results_;
};

// The fork before it is awaited.
template <class... F>
class [[nodiscard]] fork_call : public sched::awaitable {
public:
    template <class... G>
    explicit fork_call(std::in_place_t, G&&... children)
        : functions_(std::forward<G>(children)...) {}
    auto operator co_await() && { return fork_awaiter<F...>(std::move(functions_)); }

private:
    std::tuple<F...> functions_;
};

} // namespace detail

// Runs all children, in parallel where workers are free. Await the result at once. Throws
// std::bad_alloc at the await if there is no memory for a child's frame.
template <class... F>
    requires(sizeof...(F) >= 2 && (detail::forkable<std::decay_t<F>> && ...))
auto async_fork_join(F&&... children) {
    return detail::fork_call<std::decay_t<F>...>(std::in_place, std::forward<F>(children)...);
}
// Explains a call that the other overload refuses.
template <class... F>
base::refused_call async_fork_join(F&&...) {
    static_assert(
        sizeof...(F) >= 2 || base::refused<F...>,
        "sennit: async_fork_join runs two or more children; await a single task directly");
    static_assert(sizeof...(F) < 2 || base::refused<F...>,
                  "sennit: a child of async_fork_join is a task, or a function without arguments; "
                  "capture the arguments in a lambda");
    return {};
}

} // namespace sennit
