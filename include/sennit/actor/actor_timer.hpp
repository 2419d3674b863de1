// SPDX-License-Identifier: Apache-2.0
// actor_timer: a message that arrives later, once or periodically.
//
//     // alarm_ and beat_ are actor_timers; a program may also ignore the results.
//     alarm_ = sennit::tell_after(self(), 50ms, tick{});
//     beat_ = sennit::tell_every(self(), 1s, beat{});
//     …
//     alarm_.cancel();                                     // no `tick` from here on
//
// Use it for timeouts, for repetition, and for waiting between attempts. If a handler itself must
// wait, and its actor may handle nothing meanwhile, this_fiber::sleep_for is simpler.
//
// Guarantees. A timer never fires early. After `cancel` no handler begins with the timer's message,
// even if the message lay in the mailbox already. A timer belongs to the actor that receives its
// message: when that actor ends, the timer is gone, and its message is no dead letter. At most one
// message of a repeating timer waits in the mailbox. Expiries that pass meanwhile are not made up
// for, and the times do not drift. Timer messages do not count in a bounded mailbox.
//
// Thread safety: any thread may call every function; a handle is a value. No call blocks. Cost: two
// small allocations, and arming a timer in the scheduler's wheel.
#pragma once

#include "sennit/actor/actor_ref.hpp"
#include "sennit/detail/core/deadline.hpp"

#include <chrono>
#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <utility>

namespace sennit {

namespace detail {

// The message that a timer sends. `copy` throws the exceptions of the message's copy constructor;
// it is null for a one-shot timer.
struct timer_load {
    sched::message_node* node;
    sched::message_node* (*copy)(const sched::message_node&);
    void (*drop)(sched::message_node&) noexcept;
};

struct timer_node;
// Takes ownership of the load, even if it throws std::bad_alloc. Null: `whom` has ended.
timer_node* begin_timer(sched::address whom, std::int64_t deadline_ns, std::int64_t period_ns,
                        const timer_load& load);
void hold(timer_node& one) noexcept;
void let_go(timer_node& one) noexcept;
bool cancel(timer_node& one) noexcept;
bool pending(const timer_node& one) noexcept;

template <class M>
void drop_told(sched::message_node& raw) noexcept {
    destroy_message(static_cast<told<M>&>(raw));
}
template <class M>
sched::message_node* copy_told(const sched::message_node& raw) {
    M message(static_cast<const told<M>&>(raw).message);
    return make_message<told<M>>(raw.run, std::move(message));
}

} // namespace detail

// A handle to a timer; the timer continues without it.
class actor_timer {
public:
    actor_timer() noexcept = default; // refers to no timer
    actor_timer(const actor_timer& other) noexcept : node_(other.node_) {
        if (node_) detail::hold(*node_);
    }
    actor_timer(actor_timer&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
    actor_timer& operator=(actor_timer other) noexcept {
        std::swap(node_, other.node_);
        return *this;
    }
    ~actor_timer() {
        if (node_) detail::let_go(*node_);
    }

    // True: no handler will get the message. For a repeating timer there is one exception: if the
    // caller is not the receiver, the receiver may be handling a message at this moment. False: the
    // message was handled, or is being handled, or there is nothing left to cancel.
    bool cancel() noexcept { return node_ && detail::cancel(*node_); }
    // True if a message is still to be handled. May be outdated when it returns.
    bool pending() const noexcept { return node_ && detail::pending(*node_); }

    explicit actor_timer(detail::timer_node* of) noexcept : node_(of) {} // for the library

private:
    detail::timer_node* node_ = nullptr;
};

// Tells `whom` after `delay`, or immediately if `delay` is not positive. Throws std::bad_alloc.
template <class A, class M, class Rep, class Period>
actor_timer tell_after(const actor_ref<A>& whom, const std::chrono::duration<Rep, Period>& delay,
                       M message) {
    const std::int64_t deadline = sched::deadline_in(delay);
    sched::message_node* node = actor_ref<A>::make_told(std::move(message));
    return actor_timer(
        detail::begin_timer(whom.address(), deadline, 0, {node, nullptr, &detail::drop_told<M>}));
}

// Tells `whom` a copy of `message` after `period`, and again after every further `period`. Throws
// std::invalid_argument if `period` is not positive, and std::bad_alloc. If a later copy finds no
// memory, or its constructor throws, the receiver ends with that error.
template <class A, class M, class Rep, class Period>
actor_timer tell_every(const actor_ref<A>& whom, const std::chrono::duration<Rep, Period>& period,
                       M message) {
    static_assert(std::copy_constructible<M>,
                  "sennit: a message that is told every so often must be copyable");
    if (!(period > period.zero()))
        throw std::invalid_argument("sennit: [SNT-508] a timer's period must be longer than 0");
    const std::int64_t deadline = sched::deadline_in(period);
    const std::int64_t ns = deadline == sched::never
                                ? sched::never
                                : std::chrono::ceil<std::chrono::nanoseconds>(period).count();
    sched::message_node* node = actor_ref<A>::make_told(std::move(message));
    const detail::timer_load load{node, &detail::copy_told<M>, &detail::drop_told<M>};
    return actor_timer(detail::begin_timer(whom.address(), deadline, ns, load));
}

} // namespace sennit
