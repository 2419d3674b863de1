// SPDX-License-Identifier: Apache-2.0
// future, shared_future: as in std, a value that becomes available later, for fibers and OS
// threads. `then` attaches a continuation. promise, packaged_task and async, in headers of their
// own, create futures; so do make_ready_future and `then`.
//
//     sennit::future<page> wanted = sennit::async(load, address);
//     sennit::future<std::size_t> size =
//         wanted.then([](sennit::future<page> p) { return p.get().size(); });
//     …
//     use(size.get());
//
// Use them for a result that one task hands to another. For many values use a channel. For children
// that are joined where they were created use fork_join or scope, which are cheaper.
//
// Differences from std:
// * No destructor blocks, not even that of a future that `async` returned. There are no deferred
//   functions.
// * `then` and get_exception_ptr exist.
// * Every member of a future without a state throws future_error (no_state), except valid,
//   assignment and destruction.
// * A promise may be destroyed as soon as its future is ready.
//
// Blocking. get, wait, wait_for, wait_until and get_exception_ptr block the calling fiber, while
// its worker runs other tasks, or the calling OS thread. They are points of cancellation: in a
// cancelled nursery or with_timeout they throw `cancelled` instead of blocking, and the future
// stays as it was.
// Thread safety. As in std, one thread at a time may use a future object, and any threads may use
// copies of a shared_future. Everything that happens before the value is set happens before the
// return of a wait for it.
// Continuations run in a fiber of their own, in the runtime in which `then` was called (the default
// runtime if the caller was no worker). That runtime must live until the continuation has ended.
// `then` of a function that returns a future<U> returns a future<U>, which becomes ready together
// with the inner future. If the function returns a future without a state, the result is a
// broken_promise. Chains of any length, even recursive ones, hold no stack while they wait.
// Exceptions. std::future_error with the codes of std. Functions that create a state throw
// std::bad_alloc. std::bad_alloc also replaces a broken promise when there is no memory to report
// one.
// Cost: a state is one block of small memory, which for `async` and `then` includes the fiber. get
// of a ready future is one load.
#pragma once

#include "sennit/cancelled.hpp"
#include "sennit/detail/base/refused.hpp"
#include "sennit/detail/core/deadline.hpp"
#include "sennit/detail/core/here.hpp"
#include "sennit/detail/core/list_awaiter.hpp"
#include "sennit/detail/core/wait.hpp"
#include "sennit/future/detail/task.hpp"
#include "sennit/future/detail/value.hpp"

#include <chrono>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <future> // std::future_error, std::future_errc, std::future_status
#include <type_traits>
#include <utility>

namespace sennit {

using std::future_errc;
using std::future_error;
using std::future_status;

namespace detail {

// The waits of a task for a state: see list_awaiter.hpp.
struct awaited_state {
    future_state* state;
    bool ready_or_lock() const noexcept { return state->ready_or_lock(); }
    std::coroutine_handle<> suspend(std::coroutine_handle<> at, std::int64_t deadline_ns) const {
        return state->suspend(at, deadline_ns);
    }
    bool end_suspension() const {
        const sched::wake_reason why = state->end_suspension();
        if (why == sched::wake_reason::cancelled) throw cancelled();
        return why != sched::wake_reason::timed_out;
    }
};

class ready_awaiter : public sched::list_awaiter<awaited_state> {
public:
    explicit ready_awaiter(future_state& of) noexcept : list_awaiter(awaited_state{&of}) {}
};

class timed_ready_awaiter : public sched::timed_list_awaiter<awaited_state> {
public:
    timed_ready_awaiter(future_state& of, std::int64_t deadline_ns) noexcept
        : timed_list_awaiter(awaited_state{&of}, deadline_ns) {}
    future_status await_resume() {
        return timed_list_awaiter::await_resume() ? future_status::ready : future_status::timeout;
    }
};

// The members that both kinds of future have.
template <class T>
class basic_future {
public:
    // Returns true if the object has a state.
    bool valid() const noexcept { return static_cast<bool>(state_); }

    // Blocks until the future is ready. Throws `cancelled`.
    void wait() const { state().wait_ready("future::wait"); }

    // Block until the future is ready, at most until the deadline. Return ready or timeout. If the
    // deadline has passed they only look, and are no point of cancellation; otherwise they throw
    // `cancelled`.
    template <class Rep, class Period>
    future_status wait_for(const std::chrono::duration<Rep, Period>& duration) const {
        if (duration <= duration.zero()) return look();
        return wait_before(sched::deadline_in(duration));
    }
    template <class Clock, class Duration>
    future_status wait_until(const std::chrono::time_point<Clock, Duration>& when) const {
        // A clock other than the scheduler's may have been set back during the wait.
        while (!sched::has_come(when))
            if (wait_before(sched::deadline_of(when)) == future_status::ready)
                return future_status::ready;
        return look();
    }

    // Suspend the awaiting task until the future is ready, without a limit or until the deadline at
    // most, which is a time of the steady clock. The future stays valid: `co_await
    // std::move(future)` takes the value. The first returns nothing, the others return ready or
    // timeout. A time that has passed only looks. Throw `cancelled`.
    auto async_wait() const { return detail::ready_awaiter(state()); }
    template <class Rep, class Period>
    auto async_wait_for(const std::chrono::duration<Rep, Period>& duration) const {
        return detail::timed_ready_awaiter(state(), sched::deadline_in(duration));
    }
    template <class Duration>
    auto async_wait_until(
        const std::chrono::time_point<std::chrono::steady_clock, Duration>& when) const {
        return detail::timed_ready_awaiter(state(), sched::deadline_of(when));
    }

    // Blocks like get. Returns the exception that get would throw, or null if get would return a
    // value. The future stays valid.
    std::exception_ptr get_exception_ptr() const {
        state().wait_ready("future::get_exception_ptr");
        return state().error();
    }

protected:
    using state_type = future_value<T>;

    basic_future() noexcept = default;
    explicit basic_future(state_ref<state_type> state) noexcept : state_(std::move(state)) {}
    ~basic_future() = default;
    basic_future(const basic_future&) noexcept = default;
    basic_future(basic_future&&) noexcept = default;
    basic_future& operator=(const basic_future&) noexcept = default;
    basic_future& operator=(basic_future&&) noexcept = default;

    state_type& state() const { return future_access::state(*this); }

    template <class Self, class F>
    static auto continued(const void* made_at, Self& self, F&& function) {
        using closure = continue_with<std::decay_t<F>, Self>;
        using result = typename unwrapped<std::invoke_result_t<std::decay_t<F>, Self>>::type;
        state_type& source = self.state(); // the closure keeps it alive
        auto task = make_task<result, closure>(made_at, std::forward<F>(function), std::move(self));
        task->start_after(source);
        return future_access::make<result>(std::move(task));
    }

private:
    friend future_access;

    future_status look() const {
        return state().ready() ? future_status::ready : future_status::timeout;
    }
    future_status wait_before(std::int64_t deadline_ns) const {
        if (state().wait(deadline_ns, "future::wait_until") == sched::wake_reason::cancelled)
            throw cancelled();
        return look();
    }

    state_ref<state_type> state_;
};

} // namespace detail

template <class T>
class [[nodiscard]] future : public detail::basic_future<T> {
    static_assert(!std::is_rvalue_reference_v<T>,
                  "sennit: a future is of values, of lvalue references or of void");
    using base = detail::basic_future<T>;

public:
    future() noexcept = default;
    future(future&&) noexcept = default;
    future& operator=(future&&) noexcept = default;

    // Converts a future of a future to a future of the inner value.
    [[gnu::always_inline]] explicit future(future<future<T>>&& nested)
        : future(nested.then([](future<future<T>> ready) { return ready.get(); })) {}

    // Blocks until the future is ready. Returns the value or throws the error, and leaves the
    // object without a state. Throws `cancelled`.
    T get() {
        this->state().wait_ready("future::get");
        return detail::future_access::take_state(*this)->take();
    }

    // Calls `function(std::move(*this))` in a fiber of its own once this future is ready, and
    // returns a future of the result. Does not block. Leaves this object without a state, unless
    // `then` throws. Throws std::bad_alloc and the exceptions of copying the function.
    template <class F>
        requires std::is_invocable_v<std::decay_t<F>, future>
    [[gnu::always_inline]] auto then(F&& function) {
        return base::continued(sched::here(), *this, std::forward<F>(function));
    }
    // Explains a call that the other overload refuses.
    template <class F>
    sennit::base::refused_call then(F&&) {
        static_assert(sennit::base::refused<F>,
                      "sennit: future::then calls the function with the future, which is ready; "
                      "give it one parameter of type sennit::future<T>");
        return {};
    }

    // Moves the state into a shared_future.
    shared_future<T> share() noexcept { return shared_future<T>(std::move(*this)); }

private:
    friend detail::future_access;
    explicit future(detail::state_ref<detail::future_value<T>> state) noexcept
        : base(std::move(state)) {}
};

template <class T>
class shared_future : public detail::basic_future<T> {
    using base = detail::basic_future<T>;
    using shared_result =
        std::conditional_t<std::is_void_v<T>, void, std::add_lvalue_reference_t<const T>>;

public:
    shared_future() noexcept = default;
    shared_future(future<T>&& sole) noexcept
        : base(detail::future_access::take_state(sole)) {} // NOLINT: implicit, as in std

    // Blocks until the future is ready. Returns a reference to the value, or throws the error.
    // Throws `cancelled`.
    shared_result get() const {
        this->state().wait_ready("shared_future::get");
        auto& stored = this->state().value();
        if constexpr (std::is_reference_v<T>)
            return *stored;
        else if constexpr (!std::is_void_v<T>)
            return stored;
    }

    // Calls `function(copy of *this)` in a fiber of its own once this future is ready, and returns
    // a future of the result. Does not block. Throws std::bad_alloc and the exceptions of copying
    // the function.
    template <class F>
        requires std::is_invocable_v<std::decay_t<F>, shared_future>
    [[gnu::always_inline]] auto then(F&& function) const {
        shared_future copy = *this;
        return base::continued(sched::here(), copy, std::forward<F>(function));
    }
    // Explains a call that the other overload refuses.
    template <class F>
    sennit::base::refused_call then(F&&) const {
        static_assert(sennit::base::refused<F>,
                      "sennit: shared_future::then calls the function with a copy of the future, "
                      "which is ready; give it one parameter of type sennit::shared_future<T>");
        return {};
    }
};

} // namespace sennit
