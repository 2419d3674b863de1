// SPDX-License-Identifier: Apache-2.0
// The moves between contexts, inline for the few places that make them: worker.cpp (yield),
// context.cpp (the loop), wait.cpp (who blocks). A switch costs more in calls than in itself, and
// each function that is entered on one stack and returned from on another may cost a misprediction.
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

// The hot line follows the context. A thief that forces a publication holds the lock of the context
// that it saw here and writes its claim into `split`; it acts only while the claim stands, and
// `split` is written here before `head`. So a thief that counts from the new context's `head` has
// lost its claim. Whoever leaves private slots behind publishes them under that lock before it
// comes here.
SENNIT_SWITCHES inline void worker::switch_now(context& from, context& target) noexcept {
    const sys::fp_note modes;                                       // asked when the rest is done
    sys::worker_tls& tls = *tls_.load_rlx();                        // own thread wrote it
    from.saved_head = static_cast<fork_slot*>(tls.head.load_rlx()); // owner's own word
    from.saved_strand = static_cast<strand*>(tls.strand);
#ifdef SENNIT_REPORT_HELD_MUTEX
    from.held_mutexes = sys::exchange_held_mutexes(target.held_mutexes);
    if (from.held_mutexes > 0)
        report_held_mutex(from.saved_strand, from.in_blocking_pool, from.held_mutexes);
#endif
    tls.strand = target.saved_strand;
    // In this order: a thief that forces and sees this `head` knows that its claim in `split` is
    // overwritten. Nothing is private in a context that is resumed, so `split` is its `head`, and
    // the thief counts only what a later push adds; release costs nothing here.
    tls.context.store_rel(&target); // pairs with running
    fork_slot* const head = target.saved_head;
    tls.split.store_rlx(head); // carried by `head`
    tls.head.store_rel(head);  // pairs with force_publication
    sys::switch_stacks(from.machine, target.machine, *exceptions_, modes);
}

[[gnu::always_inline]] inline void worker::switch_to(context& from, context& target) noexcept {
    if (tracing::on()) [[unlikely]]
        return switch_traced(target);
    switch_now(from, target);
}

// Runs on the stack that was switched to, perhaps in another worker's thread than the one that
// context left.
[[gnu::always_inline]] inline void worker::on_switched_in() noexcept {
    worker& me = *this_worker();
    const post_switch_action due = me.post_switch_action_;
    if (due.none()) { // if who was left exchanged places with this one, it stands in the queue:
                      // thieves may have it now
        me.queue_.end_exchange();
        return;
    }
    me.post_switch_action_ = {};
    if (base::spin_lock* held = due.lock())
        held->unlock();
    else
        me.run_post_switch(due.left());
}

[[gnu::always_inline]] inline void worker::resume(context& target) noexcept {
    context& self = this->self();
    post_switch_action_ = post_switch_action(self);
    runtime_core::unregister_stealable(target);
    counted.direct_switches.add();
    switch_to(self, target);
    on_switched_in();
}

// The ready context to switch to without a detour over the loop; null when the loop has to decide.
[[gnu::always_inline]] inline context* worker::next_ready_context() noexcept {
    if (global_poll_due()) return nullptr;
    if (share_requested()) [[unlikely]]
        return nullptr;
    runnable* item = queue_.pop_woken_if(&context::resume_ready);
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

// What is due before the calling context may be left for `next`.
[[gnu::always_inline]] inline context& worker::prepare_suspend(waiter& who,
                                                               context& next) noexcept {
    context& self = this->self();
    if (!fast_suspend_) [[unlikely]]
        note_suspend(self, next);
    publish_all(self);
    counted.suspensions.add();
    self.suspended_at_ns = cached_now_ns_;
    who.parked = &self;
    return self;
}

[[gnu::always_inline]] inline void worker::switch_away(context& next,
                                                       bool (*after)(void*, waiter&) noexcept,
                                                       void* argument, waiter& who) noexcept {
    context& self = prepare_suspend(who, next);
    post_switch_action_ = post_switch_action(self);
    post_switch_fn_ = after;
    post_switch_arg_ = argument;
    post_switch_waiter_ = &who;
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

// What posting `next` and leaving for what is ready comes to while nothing else is ready.
[[gnu::always_inline]] inline bool worker::switch_directly_to(context& next, waiter& who) noexcept {
    if (&next.runtime != &runtime_ || next.affinity != fast_path_affinity_ || !queue_.empty() ||
        !queue_.lifo.closed() || global_poll_due())
        return false;
    counted.tasks_picked.add();
    runtime_core::unregister_stealable(next);
    context& self = prepare_suspend(who, next);
    switch_now(self, next); // nothing is to be done after it
    on_switched_in();
    return true;
}

[[gnu::always_inline]] inline bool worker::suspend_and_unlock(base::spin_lock& held,
                                                              waiter& who) noexcept {
    context* next = next_or_idle_context();
    if (!next) return false;
    context& self = prepare_suspend(who, *next);
    post_switch_action_ = post_switch_action(held);
    switch_now(self, *next);
    on_switched_in();
    return true;
}

} // namespace sennit::sched
