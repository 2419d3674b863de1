// SPDX-License-Identifier: Apache-2.0
#include "sennit/detail/core/wait.hpp"

#include "core/diagnostics/deadlock_detector.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/switch/switching.hpp"
#include "core/wait/limited_wait.hpp"
#include "core/wait/wait_here.hpp"
#include "core/worker/worker.hpp"
#include "sennit/detail/base/return_thunk.hpp"
#include "sennit/detail/core/cancel_scope.hpp"
#include "sennit/detail/core/strand.hpp"
#include "sennit/detail/core/verbs.hpp"
#include "sennit/detail/sys/single_threaded.hpp"
#include "sys/clock.hpp"
#include "sys/futex.hpp"
#include "sys/mutant.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

namespace sennit::sched {

namespace {

constexpr std::uint32_t preparing = static_cast<std::uint32_t>(wake_reason::preparing);
constexpr std::uint32_t waiting = static_cast<std::uint32_t>(wake_reason::waiting);

// A wait under way. Lives in the waiter's frame.
struct pending : timer {
    wait_point* point;
    void (*publish)(void*) noexcept;
    void* argument;
    cancel_scope* scope;
    runtime_core* runtime;

    // The wheel calls this under its lock.
    static waiter* expired(timer& self) noexcept {
        wait_point& point = *static_cast<pending&>(self).point;
        return claim(point, wake_reason::timed_out) == claim_result::wake_it ? &point : nullptr;
    }

    // See limited_wait.hpp.
    bool begin() noexcept {
        return begin_limited_wait(*point, scope, this, runtime, publish, argument,
                                  [this]() noexcept { scope = nullptr; });
    }
    void end() noexcept { end_limited_wait(scope, this, runtime); }
};

// Blocks a thread that is no worker, or a worker without memory for another stack.
void block_thread(pending& mine) noexcept {
    mine.runtime = nullptr; // The thread sleeps by its own clock.
    if (!mine.begin()) return;
    wait_point& point = *mine.point;
    if (mine.deadline_ns == never) {
        sleep_for_good(point);
        return;
    }
    base::unregister_this_thread();
    while (point.signal.load() == 0) {
        if (mine.deadline_ns == never) { // Claimed, and about to be woken.
            sys::futex_wait(point.signal, 0);
        } else if (!sys::futex_wait_until(point.signal, 0, mine.deadline_ns)) {
            // This thread has the claim: no other thread will wake it.
            if (claim(point, wake_reason::timed_out) != claim_result::lost) break;
            mine.deadline_ns = never; // Another thread is about to wake this one.
        }
    }
}

} // namespace

claim_result claim(wait_point& point, wake_reason why) noexcept {
    std::uint32_t seen = point.state.load_rlx(); // A hint: the CAS decides.
    while (seen == preparing || seen == waiting)
        if (base::elidable(point.state)
                .cas_acq_rel(seen, static_cast<std::uint32_t>(why))) // pairs with begin and reason
            return seen == waiting ? claim_result::wake_it : claim_result::leave_it;
    return claim_result::lost;
}

claimed claim_entry(wait_list& list, wait_entry& entry) noexcept {
    list.remove(entry);
    entry.queued = false;
    if (entry.point().sole) {
        // orders nothing: the wake does
        entry.point().state.store_rlx(static_cast<std::uint32_t>(entry.why()));
        return {&entry, true};
    }
    switch (claim(entry.point(), entry.why())) {
    case claim_result::wake_it:
        return {&entry, true};
    case claim_result::leave_it:
        return {&entry, false};
    case claim_result::lost:
        break;
    }
    return {};
}

claimed claim_contended(wait_list& list, std::size_t most) noexcept {
    for (; most > 0; --most) {
        wait_entry* entry = list.front();
        if (!entry) break;
        if (const claimed one = claim_entry(list, *entry)) return one;
        if (SENNIT_MUTANT("lost claim is followed by a claim of the next waiter")) return {};
    }
    return {};
}

SENNIT_RETURN_VIA_THUNK wake_reason wait(wait_point& point, void (*publish)(void*) noexcept,
                                         void* argument, const wait_options& options) noexcept {
    strand& me = this_strand();
    const wait_record outer_reason = std::exchange(me.waits_for, &options);
    if (point.sole) {
        struct simple {
            void (*publish)(void*) noexcept;
            void* argument;
        } mine{publish, argument};
        park(
            [](void* self, waiter&) noexcept {
                // The frame may be gone as soon as the lock is free.
                const simple what = *static_cast<simple*>(self);
                what.publish(what.argument);
                return true;
            },
            &mine, point);
    } else {
        pending mine;
        mine.expire = &pending::expired;
        mine.point = &point;
        mine.publish = publish;
        mine.argument = argument;
        mine.scope = options.cancellable ? me.scope : nullptr;
        mine.deadline_ns =
            std::min(options.deadline_ns, mine.scope ? mine.scope->deadline_ns() : never);
        mine.runtime = current_runtime();
        const auto begin = [](void* self, waiter&) noexcept {
            return static_cast<pending*>(self)->begin();
        };
        if (!mine.runtime || !suspend(begin, &mine, point)) block_thread(mine);
        mine.end();
    }
    me.waits_for = outer_reason;
    const wake_reason why = point.reason();
    const bool by_scope =
        options.cancellable && me.scope && me.scope->deadline_ns() < options.deadline_ns;
    return why == wake_reason::timed_out && by_scope ? wake_reason::cancelled : why;
}

SENNIT_RETURN_VIA_THUNK wake_reason wait_unlocking(wait_point& point, base::spin_lock& held,
                                                   const wait_options& options) noexcept {
    if (point.sole) return wait_for_source(point, held, this_strand(), options);
    return wait(
        point, [](void* lock) noexcept { static_cast<base::spin_lock*>(lock)->unlock(); }, &held,
        options);
}

SENNIT_RETURN_VIA_THUNK wake_reason block(wait_list& list, base::spin_lock& held,
                                          const wait_options& options, void* data,
                                          bool first) noexcept {
    return block_here(list, held, options, data, first);
}

SENNIT_RETURN_VIA_THUNK wake_reason block_for_any(wait_list& list, base::spin_lock& held,
                                                  const wait_options& options, void* data,
                                                  bool first) noexcept {
    wait_point point;
    wait_entry entry(point, 0, data);
    put_in(list, entry, first);
    entry.queued = true;
    const wake_reason why = wait_unlocking(point, held, options);
    // Also after a claim: a claimer that came before this wait slept may still be handing over.
    std::lock_guard guard(held);
    dequeue(list, entry);
    return why;
}

bool others_run() noexcept {
    worker* me = this_worker();
    return !me || me->runtime().active_worker_count() > 1;
}

bool cancellation_requested() noexcept {
    const cancel_scope* scope = current_scope();
    return scope && scope->cancelled();
}

} // namespace sennit::sched
