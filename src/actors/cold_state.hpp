// SPDX-License-Identifier: Apache-2.0
// What few actors have: a name, others that watch it, timers.
//
// Hangs on the mailbox, for one life. Guarded by a lock of the slot, under which the life also
// ends: so whoever finds the life under the lock finds what hangs on it.
#pragma once

#include "actors/runtime/mailbox.hpp"
#include "actors/runtime/mailbox_table.hpp"
#include "sennit/actor/actor_base.hpp"
#include "sennit/actor/message_list.hpp"
#include "sennit/detail/base/intrusive_queue.hpp"
#include "sennit/detail/sys/spin_lock.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace sennit::detail {

// Tells `watcher` of the end of who has it in its list; made when the watch begins, so that an end
// allocates nothing.
struct watch_entry : sched::message_node {
    watch_entry(sched::address to, bool both_ways) noexcept;
    sched::address watcher;
    bool linked;
    down down_message;
    watch_entry* after = nullptr; // in the list of who is watched
};

// A timer whose message is for this actor: src/actors/actor_timer.cpp.
struct attached_timer : base::list_node {
    bool attached = false; // in the list below
};
using timer_list = base::intrusive_queue<attached_timer>;

struct cold_state {
    std::string name;
    const actor_type* type = nullptr; // of an actor with a name
    watch_entry* watch_entries = nullptr;
    std::size_t watch_count = 0;    // how many those are
    std::size_t tidy_threshold = 8; // with so many, those whose watcher has ended go
    void add_watch_entry(watch_entry& one) noexcept {
        one.after = std::exchange(watch_entries, &one);
        ++watch_count;
    }
    message_list early_messages; // that came while its constructor ran: messages, and news
    timer_list timers;
};

base::byte_lock&
cold_state_lock(std::uint32_t slot) noexcept; // one for all slots that are not there

inline cold_state* cold_state_of(sched::mailbox& box) noexcept {
    return static_cast<cold_state*>(box.cold_state);
}

// Calls `add(cold_state&)` under the lock if `whom` lives, or is about to: its constructor runs.
// False: it has ended. Throws std::bad_alloc, but not where an extra hangs already.
template <class F>
bool attach_to(sched::address whom, F add) {
    std::unique_ptr<cold_state> fresh;
    for (;;) {
        {
            std::lock_guard guard(cold_state_lock(whom.slot));
            sched::mailbox* box = sched::mailbox_table::find(whom.slot);
            if (!box || (box->generation() | 1) != whom.generation) return false;
            if (!box->cold_state) box->cold_state = fresh.release();
            if (box->cold_state) {
                add(*cold_state_of(*box));
                return true;
            }
        }
        fresh = std::make_unique<cold_state>(); // not under the lock
    }
}

// Of an end: first under the lock, then outside of it.
void detach_timers(timer_list& all) noexcept;
void cancel_timers(timer_list& all) noexcept;

watch_entry* make_watch_entry(sched::address watcher, bool linked); // throws std::bad_alloc
void remove_watch_entry(sched::address whom, sched::address watcher, bool linked) noexcept;

// Mail that reached nobody, because the constructor of its receiver runs: it is sent when that has
// returned. False: that is not so, or there is no memory.
bool store_early_message(sched::message_node& one) noexcept;
// Under the lock, just before the life begins: what was kept so comes before all that is sent to
// who lives.
void deliver_early_messages(sched::mailbox& box) noexcept;

// Tells those in the list. False: none of them was there any more.
bool notify_watchers(watch_entry* first, const down& down_message) noexcept;

// Ends the life, also one that has not begun, and tells those that watch `who`. True: somebody was
// told. `nobodys`: gets the mail for one whose life does not begin.
bool drop_cold_state(sched::mailbox& box, sched::address who, exit_reason why,
                     const std::exception_ptr& error, message_list* nobodys = nullptr) noexcept;

} // namespace sennit::detail
