// SPDX-License-Identifier: Apache-2.0
// future, shared_future: as in std, a value that comes later, for fibers and OS threads at once;
// and what goes on from it. promise, packaged_task and async, in headers of their own, make them;
// so do make_ready_future and `then`.
//
//     sennit::future<page> wanted = sennit::async(load, address);
//     sennit::future<std::size_t> size = wanted.then([](sennit::future<page> p) { return
//     p.get().size(); }); … use(size.get());
//
// Use them for a result that one activity hands to another. For many values use a channel, for
// children that are joined where they were made fork_join or scope: both are cheaper.
//
// Other than in std: no destructor blocks, not even that of a future that `async` returned; there
// are no deferred functions; `then` and get_exception_ptr are here; every member of a future
// without a state throws future_error (no_state) except valid, assignment and destruction; a
// promise may be destroyed as soon as its future is ready.
//
// Blocking. get, wait, wait_for, wait_until and get_exception_ptr block the calling fiber while its
// worker goes on, or the calling OS thread. They are points of cancellation: in a cancelled nursery
// or with_timeout they throw `cancelled` instead of blocking, and the future stays as it was.
// Thread safety. As std: one future object is used by one thread at a time, copies of a
// shared_future by any; whatever happens before the value is set, happens before the return of a
// wait for it. Continuations run in a fiber of their own, in the runtime that `then` was called in
// (the default runtime if that was no worker), which must live that long. `then` of a function that
// returns a future<U> returns a future<U>, which is ready when that one is; if the function returns
// a future without a state, it is a broken_promise. Chains of any length, even those that are made
// recursively, hold no stack while they wait. Errors. std::future_error with the codes of std;
// std::bad_alloc from what makes a state, and instead of a broken promise when there is no memory
// to tell of that. Cost: a state is one piece of small memory, for `async` and `then` the fiber
// included; get of a ready future is a load.
#pragma once

#include "sennit/cancelled.hpp"
#include "sennit/detail/core/deadline.hpp"
#include "sennit/detail/core/here.hpp"
#include "sennit/detail/core/wait.hpp"
#include "sennit/future/detail/task.hpp"
#include "sennit/future/detail/value.hpp"

#include <chrono>
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

// What both kinds of future can do.
template <class T>
class basic_future {
public:
    bool valid() const noexcept { return static_cast<bool>(state_); }

    void wait() const { state().wait_ready("future::wait"); }

    // With nothing left to wait for they only look, and are no point of cancellation.
    template <class Rep, class Period>
    future_status wait_for(const std::chrono::duration<Rep, Period>& duration) const {
        if (duration <= duration.zero()) return look();
        return wait_before(sched::deadline_in(duration));
    }
    template <class Clock, class Duration>
    future_status wait_until(const std::chrono::time_point<Clock, Duration>& when) const {
        while (!sched::has_come(
            when)) // another clock than the scheduler's may have been set back meanwhile
            if (wait_before(sched::deadline_of(when)) == future_status::ready)
                return future_status::ready;
        return look();
    }

    // Blocks as get; returns what get would throw, null if it would not. The future stays valid.
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
        state_type& source = self.state(); // lives on in the closure
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

    // A future of what the inner one will hold.
    [[gnu::always_inline]] explicit future(future<future<T>>&& nested)
        : future(nested.then([](future<future<T>> ready) { return ready.get(); })) {}

    // Blocks until it is ready; returns the value or throws the error. There is no state any more
    // then.
    T get() {
        this->state().wait_ready("future::get");
        return detail::future_access::take_state(*this)->take();
    }

    // Calls `function(std::move(*this))` once this is ready, and returns a future of the result.
    // There is no state here any more then, unless it throws.
    template <class F>
        requires std::is_invocable_v<std::decay_t<F>, future>
    [[gnu::always_inline]] auto then(F&& function) {
        return base::continued(sched::here(), *this, std::forward<F>(function));
    }

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
        : base(detail::future_access::take_state(sole)) {} // NOLINT: as std

    // Blocks until it is ready; returns a reference to the value, or throws the error.
    shared_result get() const {
        this->state().wait_ready("shared_future::get");
        auto& stored = this->state().value();
        if constexpr (std::is_reference_v<T>)
            return *stored;
        else if constexpr (!std::is_void_v<T>)
            return stored;
    }

    // Calls `function(copy of *this)` once this is ready, and returns a future of the result.
    template <class F>
        requires std::is_invocable_v<std::decay_t<F>, shared_future>
    [[gnu::always_inline]] auto then(F&& function) const {
        shared_future copy = *this;
        return base::continued(sched::here(), copy, std::forward<F>(function));
    }
};

} // namespace sennit
