// SPDX-License-Identifier: Apache-2.0
// async_fork_each: a task runs a function for each number of a range in parallel, as tasks, and
// awaits all of them.
//
//     std::vector<long> parts(count);
//     co_await sennit::async_fork_each(count, [&](std::size_t i) -> sennit::task<> {
//         parts[i] = co_await solve(problem, i);
//     });
//
// Use it where the number of children is known only at run time, such as the children of a node in
// a search tree. For a fixed number of different children use async_fork_join. For many inputs that
// wait use async_for_each, which limits how many run at a time.
//
// `function(i)` returns a task, or is a plain function, whose result is dropped. The awaiting task
// runs the children in order, except those that free workers take: a worker takes the upper half of
// what is left. If a child waits, the children behind it begin without it. All children have ended
// when the await returns. The function is moved into the awaiting task's frame, and all children
// share it, on all workers. `count` is at most 2^32 - 1.
//
// Exceptions and costs are those of async_fork_join: a child that is not taken costs its frame. If
// a child throws, the children behind it that its worker has not begun are dropped, and the await
// throws the exception of the first child in order that threw.
#pragma once

#include "sennit/async_fork_join.hpp"
#include "sennit/detail/base/refused.hpp"
#include "sennit/detail/core/task_fork.hpp"
#include "sennit/detail/core/task_result.hpp"
#include "sennit/detail/sys/spin_lock.hpp"
#include "sennit/task/task.hpp"

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

namespace sennit {

namespace detail {

// The first exception, in the order of the children, of a fork.
class first_in_order {
public:
    void store(std::uint32_t index, std::exception_ptr error) noexcept;
    // Once all children have ended.
    void rethrow() {
        if (error_) [[unlikely]]
            std::rethrow_exception(std::exchange(error_, nullptr));
    }

private:
    base::spin_lock lock_; // Guards the two members below until all children have ended.
    std::uint32_t index_ = 0;
    std::exception_ptr error_;
};

// Ends the program if the number of children does not fit into 32 bits.
std::uint32_t checked_fork_count(std::size_t count) noexcept;

template <class F>
class fork_each_awaiter final
    : public sched::awaitable,
      public sched::typed_task_fork<fork_each_awaiter<F>, task_result<void>> {
public:
    fork_each_awaiter(std::size_t count, F&& function)
        : fork_each_awaiter::typed_task_fork(sched::this_strand().scope),
          count_(checked_fork_count(count)), function_(std::move(function)) {}
    fork_each_awaiter(const fork_each_awaiter&) = delete;

    bool await_ready() const noexcept { return count_ == 0; }
    SENNIT_START_OF_FORK std::coroutine_handle<>
    await_suspend(std::coroutine_handle<> caller) noexcept {
        return this->start(count_, caller);
    }
    void await_resume() {
        this->end_join();
        if (count_ != 0) this->end_own_walk();
        error_.rethrow();
    }

    // The interface to typed_task_fork.
    [[gnu::always_inline]] std::coroutine_handle<>
    begin(task_result<void>& result, std::uint32_t index, std::coroutine_handle<> after) noexcept {
        try {
            if constexpr (is_task<std::invoke_result_t<F&, std::size_t>>)
                return task_access::begin(function_(std::size_t{index}), result, after);
            else
                (void)function_(std::size_t{index});
        } catch (...) {
            result.set_error(std::current_exception());
        }
        return nullptr;
    }
    bool ended(task_result<void>& result, std::uint32_t index) noexcept {
        if (!result.failed()) [[likely]]
            return true;
        error_.store(index, result.error());
        return false;
    }
    void out_of_memory(std::uint32_t index) noexcept {
        error_.store(index, std::make_exception_ptr(std::bad_alloc()));
    }

private:
    const std::uint32_t count_;
    F function_;
    first_in_order error_;
};

template <class F>
class [[nodiscard]] fork_each_call : public sched::awaitable {
public:
    template <class G>
    fork_each_call(std::size_t count, G&& function)
        : count_(count), function_(std::forward<G>(function)) {}
    auto operator co_await() && { return fork_each_awaiter<F>(count_, std::move(function_)); }

private:
    std::size_t count_;
    F function_;
};

} // namespace detail

// Runs `function(0)` to `function(count - 1)`, in parallel where workers are free. Await the result
// at once.
template <class F>
    requires std::invocable<std::decay_t<F>&, std::size_t>
auto async_fork_each(std::size_t count, F&& function) {
    using returned = std::invoke_result_t<std::decay_t<F>&, std::size_t>;
    static_assert(!detail::is_task<returned> || std::is_same_v<returned, task<void>>,
                  "sennit: a task of async_fork_each returns nothing; let it write its result to a "
                  "place of its own, such as an element of a vector");
    return detail::fork_each_call<std::decay_t<F>>(count, std::forward<F>(function));
}
// Explains a call that the other overload refuses.
template <class F>
base::refused_call async_fork_each(std::size_t, F&&) {
    static_assert(
        base::refused<F>,
        "sennit: async_fork_each calls the function with a std::size_t, the number of the "
        "child");
    return {};
}

} // namespace sennit
