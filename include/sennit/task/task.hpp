// SPDX-License-Identifier: Apache-2.0
// The class task and its promise. sennit/task.hpp says what a task is for.
//
// The frame of a task holds a continuation and the address of its result, nothing else: the strand
// that runs the task holds its identity. At its end the task destroys its own frame and transfers
// control to the continuation. The memory is then hot for the caller's next call, and the locals
// and parameters of the task have been destroyed before the caller continues.
#pragma once

#include "sennit/detail/base/no_store_merge.hpp"
#include "sennit/detail/base/refused.hpp"
#include "sennit/detail/core/awaitable.hpp"
#include "sennit/detail/core/slab_cache.hpp"
#include "sennit/detail/core/task_forward.hpp"
#include "sennit/detail/core/task_result.hpp"
#include "sennit/detail/core/task_transfer.hpp"
#include "sennit/task/await_future.hpp"

#include <coroutine>
#include <cstddef>
#include <exception>
#include <type_traits>
#include <utility>

namespace sennit {

namespace detail {

// Destroys the frame of a task that has ended, and continues the code that awaited it.
struct end_of_task : sched::awaitable {
    static constexpr bool await_ready() noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
        const std::coroutine_handle<> next = ended.promise().continuation;
        ended.destroy();
        return sched::transfer(next);
    }
    static void await_resume() noexcept {}
};

// The parts of a promise that do not depend on the type of the result.
struct task_promise_base : sched::strand_promise {
    std::coroutine_handle<> continuation;

    static void* operator new(std::size_t bytes) { return sched::take_frame(bytes); }
    static void operator delete(void* memory, std::size_t bytes) noexcept {
        sched::give_frame(memory, bytes);
    }

    static std::suspend_always initial_suspend() noexcept { return {}; }
    static end_of_task final_suspend() noexcept { return {}; }

    template <class A>
        requires sched::task_awaitable<A>
    static A&& await_transform(A&& awaited) noexcept {
        return static_cast<A&&>(awaited);
    }
    template <class T>
    static future_awaiter<T> await_transform(future<T>&& awaited) {
        return future_awaiter<T>(std::move(awaited));
    }
    template <class T>
    static shared_future_awaiter<T> await_transform(const shared_future<T>& awaited) {
        return shared_future_awaiter<T>(awaited);
    }
    // A sender, where sennit/execution.hpp is included.
    template <class A>
        requires(!sched::task_awaitable<A> && foreign_awaitable<A>)
    static auto await_transform(A&& awaited) {
        return foreign_await<std::remove_cvref_t<A>>::make(static_cast<A&&>(awaited));
    }
    // Explains an await that the other overloads refuse.
    template <class A>
        requires(!sched::task_awaitable<A> && !is_shared_future<std::remove_cvref_t<A>> &&
                 !foreign_awaitable<A>)
    static std::suspend_never await_transform(A&&) noexcept {
        static_assert(!is_any_future<std::remove_cvref_t<A>> || base::refused<A>,
                      "sennit: a task awaits a future as an rvalue, because the await takes its "
                      "value; write co_await std::move(future)");
        static_assert(is_any_future<std::remove_cvref_t<A>> || base::refused<A>,
                      "sennit: a task awaits tasks, futures, and the async_ members of Sennit's "
                      "objects; call a blocking function plainly, without co_await");
        return {};
    }
};

template <class T>
struct task_promise final : task_promise_base {
    task_result<T>* result;

    task<T> get_return_object() noexcept;
    void unhandled_exception() noexcept { result->set_error(std::current_exception()); }
    template <class U = T>
        requires std::is_constructible_v<T, U>
    void return_value(U&& value) {
        if constexpr (std::is_reference_v<T>)
            result->set_value(std::addressof(value));
        else
            result->set_value(std::forward<U>(value));
    }
};
template <>
struct task_promise<void> final : task_promise_base {
    task_result<void>* result;

    inline task<void> get_return_object() noexcept;
    void unhandled_exception() noexcept { result->set_error(std::current_exception()); }
    void return_void() noexcept { result->set_value(); }
};

template <class T>
class task_awaiter : public sched::awaitable {
public:
    using handle = std::coroutine_handle<task_promise<T>>;
    explicit task_awaiter(handle child) noexcept : child_(child) {}
    task_awaiter(const task_awaiter&) = delete;

    static constexpr bool await_ready() noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> caller) noexcept {
        static_assert(sched::runs_on_strand<Promise>,
                      "sennit: a coroutine of another library cannot await a task, because a "
                      "worker of Sennit would resume that coroutine; hand the task to "
                      "sennit::spawn, sennit::block_on or sennit::execution::as_sender");
        child_.promise().continuation = caller;
        child_.promise().result = &result_;
        return sched::transfer(child_);
    }
    T await_resume() { return result_.take(); }

private:
    handle child_;
    task_result<T> result_;
};

struct task_access;

} // namespace detail

template <class T>
class [[nodiscard]] task : public sched::awaitable {
    static_assert(!std::is_rvalue_reference_v<T>,
                  "sennit: a task returns a value, an lvalue reference or void");
    static_assert(alignof(detail::stored_t<T>) <= 16,
                  "sennit: g++ and clang align coroutine frames to 16 bytes, so the result of a "
                  "task must not need more; return a std::unique_ptr");

public:
    using promise_type = detail::task_promise<T>;
    using value_type = T;

    // A task object without a coroutine; it may be assigned to, and destroyed.
    task() noexcept = default;
    task(task&& other) noexcept : frame_(in_register(std::exchange(other.frame_, nullptr))) {}
    task& operator=(task&& other) noexcept {
        task(std::move(other)).swap(*this);
        return *this;
    }
    // Destroys a task that has not begun.
    ~task() {
        if (frame_) frame_.destroy();
    }
    void swap(task& other) noexcept { std::swap(frame_, other.frame_); }

    // Returns true if the object holds a task that has not begun.
    bool valid() const noexcept { return static_cast<bool>(frame_); }

    // Runs the task to its end as a part of the awaiting task. Returns its result or throws its
    // exception. The object holds no task afterwards.
    auto operator co_await() && noexcept {
        return detail::task_awaiter<T>(std::exchange(frame_, nullptr));
    }
    // Explains the await of an lvalue.
    template <class Self = task>
    detail::task_awaiter<T> operator co_await() & noexcept {
        static_assert(base::refused<Self>,
                      "sennit: a task is awaited once, as an rvalue; write co_await std::move(t)");
        return detail::task_awaiter<T>(nullptr);
    }

private:
    friend promise_type;
    friend detail::task_access;
    using handle = std::coroutine_handle<promise_type>;
    explicit task(handle frame) noexcept : frame_(frame) {}
    // Keeps the compiler from moving two neighbouring tasks by one wide load, which would wait
    // until the narrow stores of both have reached the cache.
    static handle in_register(handle frame) noexcept {
        return handle::from_address(base::in_register(frame.address()));
    }

    handle frame_ = nullptr;
};

namespace detail {

template <class T>
task<T> task_promise<T>::get_return_object() noexcept {
    return task<T>(std::coroutine_handle<task_promise>::from_promise(*this));
}
inline task<void> task_promise<void>::get_return_object() noexcept {
    return task<void>(std::coroutine_handle<task_promise>::from_promise(*this));
}

// Takes the coroutine out of a task.
struct task_access {
    // The coroutine writes to `result` and continues `after`. The task must hold a coroutine.
    template <class T>
    static std::coroutine_handle<> begin(task<T>&& from, task_result<T>& result,
                                         std::coroutine_handle<> after) noexcept {
        const auto frame = std::exchange(from.frame_, nullptr);
        frame.promise().result = &result;
        frame.promise().continuation = after;
        return frame;
    }
};

} // namespace detail
} // namespace sennit
