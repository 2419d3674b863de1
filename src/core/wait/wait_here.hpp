// SPDX-License-Identifier: Apache-2.0
// Two ways to block, inline for frequent callers: wait.cpp and the monitors. Each call between the
// caller's code and the switch costs some 30 instructions, including the return after the switch.
#pragma once

#include "core/diagnostics/deadlock_detector.hpp"
#include "core/switch/switching.hpp"
#include "sennit/detail/core/strand.hpp"
#include "sennit/detail/core/verbs.hpp"
#include "sennit/detail/core/wait.hpp"

#include <utility>

namespace sennit::sched {

// wait_unlocking for a wait that only one source can end: no claim, no timer, no scope. `me` is the
// running logical thread.
[[gnu::always_inline]] inline wake_reason wait_for_source(wait_point& point, base::spin_lock& held,
                                                          strand& me,
                                                          const wait_options& options) noexcept {
    const wait_record outer_reason = std::exchange(me.waits_for, &options);
    worker* here = this_worker();
    if (!here || !here->suspend_and_unlock(held, point)) [[unlikely]] {
        point.parked = nullptr;
        held.unlock();
        sleep_for_good(point);
    }
    me.waits_for = outer_reason;
    return point.reason();
}

// `block` for a wait that an event other than a claim of the entry in `list` may end. wait.cpp.
[[gnu::noinline]] wake_reason block_for_any(wait_list& list, base::spin_lock& held,
                                            const wait_options& options, void* data,
                                            bool first) noexcept;

inline void put_in(wait_list& list, wait_entry& entry, bool first) noexcept {
    if (first)
        list.push_front(entry);
    else
        list.push_back(entry);
}

// `block`, inline.
[[gnu::always_inline]] inline wake_reason block_here(wait_list& list, base::spin_lock& held,
                                                     const wait_options& options, void* data,
                                                     bool first = false) noexcept {
    strand& me = this_strand();
    if (options.deadline_ns != never || (options.cancellable && me.scope)) [[unlikely]]
        return block_for_any(list, held, options, data, first);
    struct place { // One object, so that the compiler knows the distance of the two.
        wait_point point{true};
        wait_entry entry;
        explicit place(void* given) noexcept : entry(point, 0, given) {}
    } mine(data);
    // `queued` is only for waiters that remove themselves from the list.
    put_in(list, mine.entry, first);
    (void)wait_for_source(mine.point, held, me, options);
    return wake_reason::source;
}

// Wakes `next` once the caller is saved, and blocks the caller until `wake(who)`. For a hand-over
// after which only `next` can cause the caller's wake-up. It costs one switch if `next` would be
// the first to run here in any case.
[[gnu::always_inline]] inline void wake_and_park(waiter& next, waiter& who) noexcept {
    worker* me = this_worker();
    if (me && next.parked && next.parked->run == &context::resume_ready &&
        me->switch_directly_to(static_cast<context&>(*next.parked), who))
        return;
    park(
        [](void* first, waiter&) noexcept {
            wake(*static_cast<waiter*>(first));
            return true;
        },
        &next, who);
}

} // namespace sennit::sched
