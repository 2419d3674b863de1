// SPDX-License-Identifier: Apache-2.0
// promise: as in std, the end of a future that sets its value or exception. make_ready_future and
// make_exceptional_future create futures that are ready from the beginning.
//
//     sennit::promise<int> answer;
//     sennit::fiber asker([wanted = answer.get_future()]() mutable { use(wanted.get()); });
//     answer.set_value(42);
//
// Use it when the code that produces the value is not one function call. For the result of a
// function use `async` or `packaged_task`.
//
// Thread safety: as in std. set_value and set_exception may race: one call wins, and the others
// throw future_error (promise_already_satisfied), even while the winner still copies its value. If
// that copy throws, nothing is set. No member blocks. set_value wakes the waiters and starts the
// continuations. The promise may be destroyed as soon as its future is ready, even before set_value
// has returned. Not provided: allocators, set_value_at_thread_exit.
#pragma once

#include "sennit/detail/base/check.hpp"
#include "sennit/future.hpp"

#include <exception>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace sennit {

namespace detail {

// The members of a promise except set_value.
template <class T>
class basic_promise {
public:
    basic_promise() : state_(make_state<plain_state<T>>()) {}
    basic_promise(basic_promise&& other) noexcept = default;
    basic_promise& operator=(basic_promise&& other) noexcept {
        basic_promise(std::move(other)).swap(*this);
        return *this;
    }
    // Stores a broken_promise error unless a value or an exception was set.
    ~basic_promise() {
        if (state_) state_->abandon();
    }

    void swap(basic_promise& other) noexcept {
        std::swap(state_, other.state_);
        std::swap(retrieved_, other.retrieved_);
    }

    // Returns the future; may be called once. Throws future_error: no_state,
    // future_already_retrieved.
    future<T> get_future() {
        const auto shared = state();
        if (std::exchange(retrieved_, true))
            throw_future_error(future_errc::future_already_retrieved);
        return future_access::make<T>(shared);
    }

    // Makes the future ready with an exception. Throws future_error: no_state,
    // promise_already_satisfied.
    void set_exception(std::exception_ptr error) {
        SENNIT_CHECK(error != nullptr,
                     "[SNT-224] promise::set_exception was given a null exception_ptr; pass "
                     "std::current_exception() inside a catch block, or std::make_exception_ptr");
        const auto shared = state();
        shared->begin();
        shared->publish_error(std::move(error));
    }

protected:
    explicit basic_promise(state_ref<future_value<T>> made) noexcept
        : state_(std::move(made)) {} // or null

    // Returns a reference that keeps the state alive. A waiter that sees the value may destroy the
    // promise while its member still runs.
    state_ref<future_value<T>> state() const {
        if (!state_) throw_future_error(future_errc::no_state);
        return state_;
    }

private:
    state_ref<future_value<T>> state_;
    bool retrieved_ = false;
};

} // namespace detail

template <class T>
class promise : public detail::basic_promise<T> {
    using detail::basic_promise<T>::basic_promise;

public:
    promise() = default;
    // Makes the future ready with a value. Throws future_error: no_state,
    // promise_already_satisfied. Rethrows the exceptions of copying or moving the value.
    void set_value(const T& value) { this->state()->set_value(value); }
    void set_value(T&& value) { this->state()->set_value(std::move(value)); }
};

template <class T>
class promise<T&> : public detail::basic_promise<T&> {
    using detail::basic_promise<T&>::basic_promise;

public:
    promise() = default;
    void set_value(T& value) { this->state()->set_value(std::addressof(value)); }
};

template <>
class promise<void> : public detail::basic_promise<void> {
    using detail::basic_promise<void>::basic_promise;

public:
    promise() = default;
    void set_value() { state()->set_value(); }
};

template <class T>
void swap(promise<T>& a, promise<T>& b) noexcept {
    a.swap(b);
}

// Returns a ready future of a copy of `value`, or a future of T& if `value` is a
// std::reference_wrapper<T>. Throws std::bad_alloc and the exceptions of the copy.
template <class T>
auto make_ready_future(T&& value) {
    promise<std::unwrap_ref_decay_t<T>> made;
    made.set_value(std::forward<T>(value));
    return made.get_future();
}
inline future<void> make_ready_future() {
    promise<void> made;
    made.set_value();
    return made.get_future();
}

// Returns a future that is ready with `error`. Throws std::bad_alloc.
template <class T>
future<T> make_exceptional_future(std::exception_ptr error) {
    promise<T> made;
    made.set_exception(std::move(error));
    return made.get_future();
}
template <class T, class E>
    requires(!std::is_convertible_v<E, std::exception_ptr>)
future<T> make_exceptional_future(E error) {
    return make_exceptional_future<T>(std::make_exception_ptr(std::move(error)));
}

} // namespace sennit
