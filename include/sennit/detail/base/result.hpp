// SPDX-License-Identifier: Apache-2.0
// Storage for the result of a callable, void and references included.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace sennit::detail {

// The type that represents a callable's result in a tuple: void becomes std::monostate.
template <class R>
using result_t = std::conditional_t<std::is_void_v<R>, std::monostate, R>;

// The type that stores the result: a reference becomes a pointer.
template <class R>
using stored_t = std::conditional_t<std::is_reference_v<R>, std::remove_reference_t<R>*,
                                    std::remove_cv_t<result_t<R>>>;

template <class R, class F>
[[gnu::always_inline]] inline result_t<R> invoke_result(F&& function) {
    if constexpr (std::is_void_v<R>) {
        std::invoke(std::forward<F>(function));
        return {};
    } else {
        return std::invoke(std::forward<F>(function));
    }
}

// Calls a function that returns an lvalue or rvalue reference, and returns the address of the
// referenced object.
template <class F>
inline auto* invoke_address(F&& function) {
    auto&& referred = std::invoke(std::forward<F>(function));
    return std::addressof(referred);
}

// Stores a callable's result at `where`.
template <class R, class F>
inline void store_result(void* where, F&& function) {
    if constexpr (std::is_reference_v<R>)
        ::new (where) stored_t<R>(invoke_address(std::forward<F>(function)));
    else
        ::new (where) stored_t<R>(invoke_result<R>(std::forward<F>(function)));
}

// Converts a stored value back to the result, by moving it out.
template <class R>
inline result_t<R> load_result(stored_t<R>& stored) {
    if constexpr (std::is_reference_v<R>)
        return static_cast<R>(*stored);
    else
        return std::move(stored);
}

// A callable's result or exception. The thread that runs the callable writes it once, and the
// waiter takes it once. Not thread-safe by itself.
template <class R>
class outcome {
public:
    template <class F>
    [[gnu::always_inline]] void run(F&& function) noexcept {
        try {
            stored_.emplace(make(std::forward<F>(function)));
        } catch (...) {
            error_ = std::current_exception();
        }
    }

    // The exception that the callable threw; null if it threw none.
    const std::exception_ptr& error() const noexcept { return error_; }

    R take() {
        if (error_) std::rethrow_exception(std::move(error_));
        if constexpr (!std::is_void_v<R>) return load_result<R>(stored_->value);
    }

private:
    // The value is constructed in place, so that a result need not be moved into the optional a
    // second time.
    struct holder {
        stored_t<R> value;
    };
    template <class F>
    static holder make(F&& function) {
        if constexpr (std::is_reference_v<R>)
            return {invoke_address(std::forward<F>(function))};
        else
            return {invoke_result<R>(std::forward<F>(function))};
    }
    std::optional<holder> stored_;
    std::exception_ptr error_;
};

} // namespace sennit::detail
