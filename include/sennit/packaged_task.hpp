// SPDX-License-Identifier: Apache-2.0
// packaged_task: as in std, a function whose call stores its result or exception in a future.
//
//     sennit::packaged_task<int(int)> square([](int x) { return x * x; });
//     sennit::future<int> result = square.get_future();
//     sennit::fiber(std::move(square), 7).detach();
//     use(result.get());
//
// Use it when another task calls the function. For a function that runs in a new fiber immediately,
// `async` is shorter and cheaper. Thread safety: as in std; a call may race with the use of the
// future. Not provided: make_ready_at_thread_exit.
#pragma once

#include "sennit/detail/base/refused.hpp"
#include "sennit/promise.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace sennit {

template <class Signature>
class packaged_task; // for function types only

template <class R, class... Args>
class packaged_task<R(Args...)> {
public:
    packaged_task() noexcept : result_(nullptr) {}

    // Stores a copy of the function. Throws std::bad_alloc and the exceptions of copying the
    // function.
    template <class F>
        requires(!std::is_same_v<std::remove_cvref_t<F>, packaged_task> &&
                 std::is_invocable_r_v<R, std::decay_t<F>&, Args...>)
    explicit packaged_task(F&& function)
        : function_(new held<std::decay_t<F>>(std::forward<F>(function))) {}
    // Explains a function that the constructor above refuses.
    template <class F>
        requires(!std::is_same_v<std::remove_cvref_t<F>, packaged_task> &&
                 !std::is_invocable_r_v<R, std::decay_t<F>&, Args...>)
    explicit packaged_task(F&&) {
        static_assert(base::refused<F>,
                      "sennit: packaged_task<R(Arguments...)> calls the function with these "
                      "arguments, and the result must convert to R");
    }

    packaged_task(packaged_task&&) noexcept = default;
    packaged_task& operator=(packaged_task&&) noexcept = default;
    // The destructor stores a broken_promise error unless the function was called.

    void swap(packaged_task& other) noexcept {
        std::swap(function_, other.function_);
        result_.swap(other.result_);
    }
    friend void swap(packaged_task& a, packaged_task& b) noexcept { a.swap(b); }

    // Returns true if the task holds a function.
    bool valid() const noexcept { return function_ != nullptr; }

    // Returns the future; may be called once for each state. Throws future_error: no_state,
    // future_already_retrieved.
    future<R> get_future() { return result_.get_future(); }

    // Calls the function; the future is ready when the call returns. Throws future_error without
    // calling the function: no_state, promise_already_satisfied.
    void operator()(Args... arguments) {
        result_.fulfil([&]() -> R { return function_->call(std::forward<Args>(arguments)...); });
    }

    // Gives the task a new state with the same function. If the function was not called, the future
    // of the old state holds a broken_promise error. Throws future_error (no_state) and
    // std::bad_alloc.
    void reset() {
        if (!valid()) detail::throw_future_error(future_errc::no_state);
        result_ = result();
    }

private:
    struct callable {
        virtual ~callable() = default;
        virtual R call(Args... arguments) = 0;
    };
    template <class F>
    struct held final : callable {
        template <class G>
        explicit held(G&& g) : function(std::forward<G>(g)) {}
        R call(Args... arguments) override {
            if constexpr (std::is_void_v<R>)
                std::invoke(function, std::forward<Args>(arguments)...);
            else
                return std::invoke(function, std::forward<Args>(arguments)...);
        }
        F function;
    };

    struct result : detail::basic_promise<R> {
        result() = default;
        explicit result(std::nullptr_t) noexcept
            : detail::basic_promise<R>(detail::state_ref<detail::future_value<R>>()) {}
        template <class F>
        void fulfil(F&& function) {
            const auto shared = this->state();
            shared->begin();
            shared->construct_from(std::forward<F>(function));
            shared->publish();
        }
    };

    std::unique_ptr<callable> function_;
    result result_;
};

namespace detail {

// The signature of a class's only call operator.
template <class>
struct call_signature;
template <class C, class R, class... A, bool N>
struct call_signature<R (C::*)(A...) noexcept(N)> {
    using type = R(A...);
};
template <class C, class R, class... A, bool N>
struct call_signature<R (C::*)(A...) const noexcept(N)> {
    using type = R(A...);
};
template <class C, class R, class... A, bool N>
struct call_signature<R (C::*)(A...) & noexcept(N)> {
    using type = R(A...);
};
template <class C, class R, class... A, bool N>
struct call_signature<R (C::*)(A...) const & noexcept(N)> {
    using type = R(A...);
};

} // namespace detail

template <class R, class... Args>
packaged_task(R (*)(Args...)) -> packaged_task<R(Args...)>;
template <class F>
packaged_task(F) -> packaged_task<typename detail::call_signature<decltype(&F::operator())>::type>;

} // namespace sennit
