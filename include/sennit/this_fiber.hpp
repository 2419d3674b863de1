// SPDX-License-Identifier: Apache-2.0
// What the running fiber can do and know. On threads that are no workers these act on the thread,
// as std::this_thread.
#pragma once

#include "sennit/cancelled.hpp"
#include "sennit/detail/core/verbs.hpp"
#include "sennit/fiber.hpp"

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string_view>

namespace sennit::this_fiber {

// Lets what else is ready on this worker run first. About 6 ns from one fiber to another.
inline void yield() noexcept {
    sched::yield();
}

fiber::id get_id() noexcept;

// The running fiber's name; empty when it has none, or when this is no fiber.
std::string_view name() noexcept;

// The running fiber, which was made with fiber_attributes::migratable, goes on in `there` for good:
// the call returns on a worker of it. All else stays as it is: id, name, locals, stop token, locks
// that it holds, whoever joins it. Its turn comes there as that of a new fiber from outside. At
// once where it runs there already. `there` must live as long as the fiber is in it; what it leaves
// may be destroyed, but for a `scope` made there that is used again. Not a point of cancellation.
// Throws std::system_error(operation_not_permitted), and it stays: when the caller is no migratable
// fiber; inside a fork with siblings, a scope with children, a with_timeout, a coroutine or a
// blocking call; when `there` was lost in fork(). Cost: a post to another thread's runtime, its
// worker's wake-up.
void migrate_to(sennit::runtime& there);

// As the members of fiber, for the running one; 0, and std::bad_cast, when this is no fiber.
int priority() noexcept;
template <class P, class F>
    requires std::derived_from<P, fiber_properties> && std::invocable<F&, P&>
void change_properties(F&& change) {
    sennit::detail::change_properties<P>(sched::fiber_block::current(), change);
}
inline void set_priority(int priority) {
    sennit::detail::set_priority(sched::fiber_block::current(), priority);
}

// Never tells of a stop when the caller is no fiber. May throw std::bad_alloc at the first call.
std::stop_token get_stop_token();

// Throws `cancelled` when the surrounding nursery or with_timeout is; else offers work to idle
// workers, as sennit::checkpoint. About a ns.
void checkpoint();

// The stack that the caller runs on, in bytes. All zero on a thread that is no worker. `touched` is
// what of it has ever been touched, rounded up to pages, by whichever fibers were on it: a fiber
// takes a stack that others have used before, and starts above whoever it is joined by. So it says
// what size would have been enough for all of them together, and is an upper bound for each. One
// system call.
struct stack_use {
    std::size_t size = 0;
    std::size_t used = 0; // now, from the stack's beginning to the caller
    std::size_t touched = 0;
};
stack_use stack() noexcept;

namespace detail {
void sleep_until_ns(std::int64_t deadline_ns);
void look_at_cancellation();
} // namespace detail

// Throws `cancelled` when the surrounding nursery or with_timeout is, also where there is no time
// to sleep.
template <class Rep, class Period>
void sleep_for(const std::chrono::duration<Rep, Period>& duration) {
    if (duration > duration.zero())
        detail::sleep_until_ns(sennit::detail::deadline_in(duration));
    else
        detail::look_at_cancellation();
}
template <class Clock, class Duration>
void sleep_until(const std::chrono::time_point<Clock, Duration>& when) {
    if (sennit::sched::has_come(when)) return detail::look_at_cancellation();
    do detail::sleep_until_ns(sennit::detail::deadline_of(when));
    while (!sennit::sched::has_come(when));
}

} // namespace sennit::this_fiber
