// SPDX-License-Identifier: Apache-2.0
// active: an object with a fiber of its own. The fiber decides when other tasks may call the
// object.
//
//     struct server : sennit::monitor {
//         void ask(int question) { auto in = sennit::enter<&server::ask>(*this); … }
//         void run() {
//             while (sennit::waitfor(sennit::accept<&server::ask>(*this),
//                                    sennit::accept_destructor(*this)) == 0)
//                 …
//         }
//     };
//     sennit::active<server> one;
//     one->ask(42);
//     // ~active: its destructor is accepted, `run` ends, the object is destroyed
//
// Use it for an object that acts on its own and also serves calls. For an object that only serves
// calls a `monitor` is enough.
//
// `run` starts on a fiber when the object is created. It is inside the monitor from the start:
// until `run` accepts a call, waits or ends, no other task can enter. The destructor waits for its
// turn to enter (see accept_destructor), then for the end of `run`. A `run` that accepts no
// destructor must therefore end by itself. An exception of `run` comes out of `join`; if nothing
// joins the object, the exception ends the program.
// Cost: that of a fiber.
#pragma once

#include "sennit/detail/core/here.hpp"
#include "sennit/fiber.hpp"
#include "sennit/monitor.hpp"

#include <chrono>
#include <concepts>
#include <memory>
#include <utility>

namespace sennit {

// `T` must derive from monitor and have a member function `run`.
template <class T>
class active {
    static_assert(std::derived_from<T, monitor>,
                  "sennit: an active object's class derives from monitor");

public:
    template <class... A>
    [[gnu::always_inline]] explicit active(A&&... arguments)
        : object_(std::forward<A>(arguments)...) {
        start(sched::here());
    }
    ~active() {
        if (thread_.joinable()) (void)enter_destructor(object_);
    }
    active(const active&) = delete;
    active& operator=(const active&) = delete;

    // Gives access to the object, whose members enter the monitor themselves.
    T* operator->() noexcept { return std::addressof(object_); }
    T& operator*() noexcept { return object_; }

    // Blocks until `run` has ended, and rethrows its exception. May be called once.
    void join() { thread_.join(); }

    // Block until `run` has ended, at most until the deadline. Return false when `run` has not
    // ended in time; the object can still be joined. Not a point of cancellation. Rethrow the
    // exception of `run`.
    template <class Rep, class Period>
    bool join_for(const std::chrono::duration<Rep, Period>& duration) {
        return thread_.join_for(duration);
    }
    template <class Clock, class Duration>
    bool join_until(const std::chrono::time_point<Clock, Duration>& when) {
        return thread_.join_until(when);
    }

private:
    void start(const void* made_at) {
        detail::monitor_ops::reserve(object_, this);
        try {
            thread_ = fiber(detail::code_address{made_at}, nullptr, [this] {
                const auto in = detail::entrance::adopted(object_);
                object_.run();
            });
        } catch (...) {
            // the destructor of the monitor may want to enter
            detail::monitor_ops::release(object_);
            throw;
        }
    }

    T object_;
    fiber thread_; // ends before the object does
};

} // namespace sennit
