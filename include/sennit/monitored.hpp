// SPDX-License-Identifier: Apache-2.0
// monitored: any object, with a monitor around it.
//
//     sennit::monitored<std::vector<int>> values;
//     values->push_back(1);                                     // inside during the expression
//     values.with([](std::vector<int>& all) { … });             // inside during the call
//
// Use it where a class cannot or should not be a monitor itself. To use several objects together,
// call sennit::enter(a, b), then `unguarded`. The destructor waits for tasks that are inside or
// arrived earlier.
#pragma once

#include "sennit/monitor.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace sennit {

template <class T>
class monitored : public monitor {
public:
    // Constructs the object from the arguments.
    template <class... A>
    explicit monitored(A&&... arguments) : value_(std::in_place, std::forward<A>(arguments)...) {}
    ~monitored() {
        const auto last = enter_destructor(*this);
        value_.reset();
    }

    // Calls `function(object)` inside the monitor and returns its result. Blocks until the caller
    // is inside.
    template <class F>
    decltype(auto) with(F&& function) {
        static_assert(std::is_invocable_v<F, T&>,
                      "sennit: monitored::with calls the function with the object; give it one "
                      "parameter of type T&");
        const auto in = enter(*this);
        return std::invoke(std::forward<F>(function), *value_);
    }

    // Access to the object; the owner of the pointer is inside the monitor for the pointer's
    // lifetime.
    class pointer {
    public:
        T* operator->() const noexcept { return std::addressof(value_); }
        T& operator*() const noexcept { return value_; }

    private:
        friend monitored;
        explicit pointer(monitored& of) noexcept : in_(enter(of)), value_(*of.value_) {}
        inside<1> in_;
        T& value_;
    };
    // Blocks until the caller is inside, and returns a pointer that keeps it inside.
    pointer operator->() { return pointer(*this); }

    // Returns the object. The caller must be inside the monitor.
    T& unguarded() noexcept { return *value_; }

private:
    std::optional<T> value_;
};

} // namespace sennit
