// SPDX-License-Identifier: Apache-2.0
// this_fiber: operations and queries of the running fiber. On a thread that is no worker they act
// on the thread, as std::this_thread does.
#pragma once

#include "sennit/cancelled.hpp"
#include "sennit/detail/core/verbs.hpp"
#include "sennit/fiber.hpp"

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string_view>

namespace sennit::this_fiber {

// Lets the other ready tasks of this worker run first, then continues: woken tasks before this one
// whenever there are any, then the tasks that yielded earlier. For a loop that computes for long,
// and lets short tasks run in between. Does not throw. A switch from one fiber to another takes
// about 6 ns.
inline void yield() noexcept {
    sched::yield();
}

// Returns the id of the running strand: see fiber::id.
fiber::id get_id() noexcept;

// Returns the running fiber's name; the name is empty when the fiber has none, or when the caller
// is not a fiber.
std::string_view name() noexcept;

// Moves the running fiber to the runtime `there` for good: the call returns on a worker of `there`.
// The fiber must have been created with fiber_attributes::migratable. Its id, name, locals, stop
// token, locks and joiner stay as they are. The fiber enters `there` like a new fiber from outside.
// The call returns immediately when the fiber already runs there. It is not a point of
// cancellation.
// `there` must live as long as the fiber is in it. The runtime that the fiber has left may be
// destroyed, unless the fiber uses a `scope` again that was created there.
// Throws std::system_error(operation_not_permitted), and the fiber stays, in these cases: the
// caller is not a migratable fiber; the caller is inside a fork with siblings, a scope with
// children, a with_timeout, a coroutine or a blocking call; `there` was lost in fork().
// Cost: one post to another thread's runtime, and the wake-up of its worker.
void migrate_to(sennit::runtime& there);

// These act on the running fiber like the members of fiber. When the caller is not a fiber,
// priority() returns 0 and the other two throw std::bad_cast.
int priority() noexcept;
template <class P, class F>
    requires std::derived_from<P, fiber_properties> && std::invocable<F&, P&>
void change_properties(F&& change) {
    sennit::detail::change_properties<P>(sched::fiber_block::current(), change);
}
// Explains a call that the overload above refuses.
template <class P, class F>
base::refused_call change_properties(F&&) {
    return sennit::detail::refuse_change_of_properties<P, F>();
}
inline void set_priority(int priority) {
    sennit::detail::set_priority(sched::fiber_block::current(), priority);
}

// Returns the running fiber's stop token. The token never reports a stop when the caller is not a
// fiber. The first call may throw std::bad_alloc.
std::stop_token get_stop_token();

// Throws `cancelled` when the surrounding nursery or with_timeout is cancelled. Otherwise it offers
// work to idle workers, as sennit::checkpoint does. Does not block; takes about 1 ns.
void checkpoint();

// Describes the stack that the caller runs on, in bytes; all values are zero on a thread that is no
// worker. `touched` is the part of the stack that was ever touched, rounded up to pages, by every
// fiber that ran on it. Fibers reuse stacks, and a fiber may run on top of the context that joins
// it. `touched` therefore says which size would have been enough for all of these fibers together,
// and is an upper bound for each. Costs one system call.
struct stack_use {
    std::size_t size = 0;
    std::size_t used = 0; // at this moment, from the stack's base to the caller
    std::size_t touched = 0;
};
stack_use stack() noexcept;

namespace detail {
void sleep_until_ns(std::int64_t deadline_ns);
void look_at_cancellation();
} // namespace detail

// Blocks the caller until the time has come; its worker runs other tasks meanwhile. Throws
// `cancelled` when the surrounding nursery or with_timeout is cancelled, even if the time has
// already come.
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
