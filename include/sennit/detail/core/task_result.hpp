// SPDX-License-Identifier: Apache-2.0
// task_result: the place where a task stores its value or its exception. It lies with the code that
// awaits the task, so that the result is written once and the frame of the task can end first.
#pragma once

#include "sennit/detail/base/result.hpp"

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

namespace sennit::detail {

template <class T>
class task_result {
public:
    task_result() noexcept {}
    task_result(const task_result&) = delete;
    ~task_result() {
        if (state_ == state::value)
            std::destroy_at(std::addressof(value_));
        else if (state_ == state::error)
            std::destroy_at(std::addressof(error_));
    }

    // Called by the task, once each: set_error after set_value has thrown, if at all.
    template <class... A>
    void set_value(A&&... arguments) {
        std::construct_at(std::addressof(value_), std::forward<A>(arguments)...);
        state_ = state::value;
    }
    void set_error(std::exception_ptr error) noexcept {
        std::construct_at(std::addressof(error_), std::move(error));
        state_ = state::error;
    }

    // Called once, after the task has ended. Returns the value or throws the exception.
    T take() {
        if (state_ == state::error) [[unlikely]]
            std::rethrow_exception(std::exchange(error_, nullptr));
        if constexpr (!std::is_void_v<T>) return load_result<T>(value_);
    }
    bool failed() const noexcept { return state_ == state::error; }
    void rethrow_if_failed() {
        if (failed()) [[unlikely]]
            std::rethrow_exception(std::exchange(error_, nullptr));
    }
    std::exception_ptr error() const noexcept { return failed() ? error_ : nullptr; }

    // For the state of a future. The first stores the result of a function, or throws its
    // exception. The second requires a value; the third requires an exception, and takes it.
    template <class F>
    void set_from(F&& function) {
        store_result<T>(std::addressof(value_), std::forward<F>(function));
        state_ = state::value;
    }
    stored_t<T>& value() noexcept { return value_; }
    std::exception_ptr take_error() noexcept { return std::exchange(error_, nullptr); }

private:
    enum class state : std::uint8_t { empty, value, error };
    union {
        stored_t<T> value_;
        std::exception_ptr error_;
    };
    state state_ = state::empty;
};

// Without a value, it is an exception or null.
template <>
class task_result<void> {
public:
    task_result() noexcept = default;
    task_result(const task_result&) = delete;

    static void set_value() noexcept {}
    void set_error(std::exception_ptr error) noexcept { error_ = std::move(error); }

    void take() { rethrow_if_failed(); }
    bool failed() const noexcept { return error_ != nullptr; }
    void rethrow_if_failed() {
        if (failed()) [[unlikely]]
            std::rethrow_exception(std::exchange(error_, nullptr));
    }
    std::exception_ptr error() const noexcept { return error_; }
    std::exception_ptr& place_of_error() noexcept { return error_; }

private:
    std::exception_ptr error_;
};

// The value of a child in the result of a group or a fork.
template <class T>
using child_value =
    std::conditional_t<std::is_void_v<T>, std::monostate,
                       std::conditional_t<std::is_reference_v<T>,
                                          std::reference_wrapper<std::remove_reference_t<T>>, T>>;

// Takes the value of a child that has ended, once, or throws its exception.
template <class T>
child_value<T> take_child(task_result<T>& result) {
    if constexpr (std::is_void_v<T>) {
        result.take();
        return {};
    } else {
        return result.take();
    }
}

} // namespace sennit::detail
