// SPDX-License-Identifier: Apache-2.0
// The switches between contexts, inline for their few callers: worker.cpp (yield), context.cpp (the
// loop), wait.cpp (blocking). The calls around a switch cost more than the switch itself, and each
// function that is entered on one stack and returned from on another may cost a branch
// misprediction.
#pragma once

#include "core/diagnostics/held_mutex.hpp"
#include "core/diagnostics/tracing.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/worker/worker.hpp"
#include "sennit/detail/sys/spin_lock.hpp"
#include "sys/held_mutex.hpp"

#include <utility>

// ThreadSanitizer's shadow stack changes in the middle of a function that switches stacks.
#ifdef SENNIT_THREAD_SANITIZER
#define SENNIT_NOT_INSTRUMENTED __attribute__((no_sanitize("thread")))
#define SENNIT_SWITCHES [[gnu::noinline]] SENNIT_NOT_INSTRUMENTED
#else
#define SENNIT_NOT_INSTRUMENTED
#define SENNIT_SWITCHES [[gnu::always_inline]]
#endif

namespace sennit::sched {

// The hot line follows the context. A thief that forces publication holds the lock of the context
// that it saw here, and writes its claim into `split`. It acts only while the claim stands, and
// `switch_now` writes `split` before `head`. So a thief that counts from the new context's `head`
// has lost its claim. A context that leaves private slots behind publishes them under that lock
// before it comes here.
SENNIT_SWITCHES inline void worker::switch_now(context& from, context& target) noexcept {
    const sys::fp_note modes;                       // Read after the rest is done.
    sys::worker_tls& tls = *thread_.tls.load_rlx(); // The own thread wrote thread_.tls.
    from.saved_head = static_cast<fork_slot*>(tls.head.load_rlx()); // Owner's own word.
    from.saved_strand = static_cast<strand*>(tls.strand);
#ifdef SENNIT_REPORT_HELD_MUTEX
    from.held_mutexes = sys::exchange_held_mutexes(target.held_mutexes);
    if (from.held_mutexes > 0)
        report_held_mutex(from.saved_strand, from.in_blocking_pool, from.held_mutexes);
#endif
    tls.strand = target.saved_strand;
    // The order of these stores matters. A thief that forces and sees this `head` knows that its
    // claim in `split` is overwritten. A resumed context has no private slots, so `split` equals
    // its `head`, and the thief counts only slots that a later push adds. The release costs nothing
    // here.
    tls.context.store_rel(&target); // pairs with running
    fork_slot* const head = target.saved_head;
    tls.split.store_rlx(head); // Published by `head`.
    tls.head.store_rel(head);  // pairs with force_publication
    sys::switch_stacks(from.machine, target.machine, *thread_.exceptions, modes);
}

[[gnu::always_inline]] inline void worker::switch_to(context& from, context& target) noexcept {
    if (tracing::on()) [[unlikely]]
        return switch_traced(target);
    switch_now(from, target);
}

// Runs on the stack that was switched to, perhaps on the thread of another worker than the
// worker that this context left.
[[gnu::always_inline]] inline void worker::on_switched_in() noexcept {
    worker& me = *this_worker();
    const post_switch_action due = me.post_switch_.action;
    // If the outgoing context exchanged places with this one, it is in the queue: thieves may take
    // it from now on.
    if (due.none()) {
        me.queue_.end_exchange();
        return;
    }
    me.post_switch_.action = {};
    if (base::spin_lock* held = due.lock())
        held->unlock();
    else
        me.run_post_switch(due.left());
}

[[gnu::always_inline]] inline void worker::resume(context& target) noexcept {
    context& self = this->self();
    post_switch_.action = post_switch_action(self);
    runtime_core::unregister_stealable(target);
    counted.direct_switches.add();
    switch_to(self, target);
    on_switched_in();
}

// Returns the ready context to switch to without a detour through the loop; null if the loop has to
// decide.
[[gnu::always_inline]] inline context* worker::next_ready_context() noexcept {
    if (global_poll_due()) return nullptr;
    if (share_requested()) [[unlikely]]
        return nullptr;
    runnable* item = queue_.pop_ready_if(&context::resume_ready);
    if (!item) return nullptr;
    counted.tasks_picked.add();
    context& target = static_cast<context&>(*item);
    runtime_core::unregister_stealable(target);
    return &target;
}

[[gnu::always_inline]] inline context* worker::next_or_idle_context() noexcept {
    if (!queue_.lifo.closed()) [[unlikely]]
        flush_lifo_slot_before_block();
    context* next = next_ready_context();
    return next ? next : idle_context();
}

// Completes the bookkeeping that must precede a switch from the calling context to `next`.
[[gnu::always_inline]] inline context& worker::prepare_suspend(waiter& who,
                                                               context& next) noexcept {
    context& self = this->self();
    if (!rules_.fast_suspend) [[unlikely]]
        note_suspend(self, next);
    publish_all(self);
    counted.suspensions.add();
    self.suspended_at_ns = cached_now_ns();
    who.parked = &self;
    return self;
}

[[gnu::always_inline]] inline void worker::switch_away(context& next,
                                                       bool (*after)(void*, waiter&) noexcept,
                                                       void* argument, waiter& who) noexcept {
    context& self = prepare_suspend(who, next);
    post_switch_.action = post_switch_action(self);
    post_switch_.fn = after;
    post_switch_.argument = argument;
    post_switch_.who = &who;
    switch_now(self, next);
    on_switched_in();
}

[[gnu::always_inline]] inline bool worker::suspend_current(bool (*after)(void*, waiter&) noexcept,
                                                           void* argument, waiter& who) noexcept {
    context* next = next_or_idle_context();
    if (!next) return false;
    switch_away(*next, after, argument, who);
    return true;
}

// Has the effect of posting `next` and leaving for the next ready task, while nothing else is
// ready.
[[gnu::always_inline]] inline bool worker::switch_directly_to(context& next, waiter& who) noexcept {
    if (&next.runtime != &runtime_ || next.affinity != rules_.fast_path_affinity ||
        !queue_.empty() || !queue_.lifo.closed() || global_poll_due())
        return false;
    counted.tasks_picked.add();
    runtime_core::unregister_stealable(next);
    context& self = prepare_suspend(who, next);
    switch_now(self, next); // There is no post-switch action.
    on_switched_in();
    return true;
}

[[gnu::always_inline]] inline bool worker::suspend_and_unlock(base::spin_lock& held,
                                                              waiter& who) noexcept {
    context* next = next_or_idle_context();
    if (!next) return false;
    context& self = prepare_suspend(who, *next);
    post_switch_.action = post_switch_action(held);
    switch_now(self, *next);
    on_switched_in();
    return true;
}

} // namespace sennit::sched
