// SPDX-License-Identifier: Apache-2.0
// active: an object with a fiber of its own, which decides when others may call it.
//
//     struct server : sennit::monitor {
//         void ask(int what) { auto in = sennit::enter<&server::ask>(*this); … }
//         void run() {
//             while (sennit::waitfor(sennit::accept<&server::ask>(*this),
//             sennit::accept_destructor(*this)) == 0) …
//         }
//     };
//     sennit::active<server> one;
//     one->ask(42);
//     // ~active: its destructor is accepted, `run` ends, the object goes
//
// `run` begins when the object is made, on a fiber, inside the monitor from the very first: until
// it accepts a call, waits or ends, nobody gets in. The destructor waits for its turn to enter (see
// accept_destructor), then for the end of `run`; so a `run` that accepts no destructor must end of
// itself. What `run` throws comes out of `join`; where nobody joins, it ends the program. Cost:
// that of a fiber.
#pragma once

#include "sennit/detail/core/here.hpp"
#include "sennit/fiber.hpp"
#include "sennit/monitor.hpp"

#include <chrono>
#include <concepts>
#include <memory>
#include <utility>

namespace sennit {

// `T` derives from monitor and has a member `run`.
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

    T* operator->() noexcept { return std::addressof(object_); }
    T& operator*() noexcept { return object_; }

    // Waits for the end of `run`; throws what that threw. At most once.
    void join() { thread_.join(); }

    // The same; false when `run` has not ended in time, and it may be joined yet. No point of
    // cancellation.
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
            detail::monitor_ops::release(object_); // its destructor may want to enter
            throw;
        }
    }

    T object_;
    fiber thread_; // ends before the object does
};

} // namespace sennit
