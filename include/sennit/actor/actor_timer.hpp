// SPDX-License-Identifier: Apache-2.0
// actor_timer: a message that comes later, once or again and again.
//
//     alarm_ = sennit::tell_after(self(), 50ms, tick{});            // alarm_: an actor_timer; may
//     also be ignored beat_ = sennit::tell_every(self(), 1s, beat{}); … alarm_.cancel(); // no
//     `tick` from here on
//
// Use it for timeouts, for repetition and for waiting between attempts. Where a handler shall wait
// itself, and its actor handle nothing meanwhile, this_fiber::sleep_for is simpler. Guarantees.
// Never early. After `cancel` no handler begins with its message, also when that lay in the mailbox
// already. A timer belongs to the actor that its message is for: when that ends, the timer is gone,
// and is no dead letter. At most one message of a repeating timer waits in the mailbox; of what
// comes meanwhile nothing is made up for later, and the times do not drift. Its messages do not
// count in a mailbox with a bound. Thread safety: everything from any thread, a handle as a value.
// Nothing blocks. Cost: two small allocations, and arming a timer of the scheduler's wheel.
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

// What a timer sends. `copy` throws what the message's copy throws; null: it is sent once.
struct timer_load {
    sched::message_node* node;
    sched::message_node* (*copy)(const sched::message_node&);
    void (*drop)(sched::message_node&) noexcept;
};

struct timer_node;
// Owns the load, also when it throws std::bad_alloc. Null: `whom` has ended.
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

// Refers to a timer, which goes on without it.
class actor_timer {
public:
    actor_timer() noexcept = default; // none
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

    // True: the message never will be handled; of a repeating timer, none but the one that the
    // receiver may have in hand at this moment, if that is somebody else. False: it was handled, or
    // is in hand, or there is nothing to cancel any more.
    bool cancel() noexcept { return node_ && detail::cancel(*node_); }
    // Whether a message is still to be handled. May be outdated when it returns.
    bool pending() const noexcept { return node_ && detail::pending(*node_); }

    explicit actor_timer(detail::timer_node* of) noexcept : node_(of) {} // for the library

private:
    detail::timer_node* node_ = nullptr;
};

// Tells `whom` in `delay`, or at once if that is not positive. Throws std::bad_alloc.
template <class A, class M, class Rep, class Period>
actor_timer tell_after(const actor_ref<A>& whom, const std::chrono::duration<Rep, Period>& delay,
                       M message) {
    const std::int64_t deadline = sched::deadline_in(delay);
    sched::message_node* node = actor_ref<A>::make_told(std::move(message));
    return actor_timer(
        detail::begin_timer(whom.address(), deadline, 0, {node, nullptr, &detail::drop_told<M>}));
}

// Tells `whom` a copy of `message` in `period`, and every `period` from then on. Throws
// std::invalid_argument when that is not positive, and std::bad_alloc; where there is no memory for
// a copy later, or its constructor throws, the receiver ends with that error.
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
