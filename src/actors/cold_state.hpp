// SPDX-License-Identifier: Apache-2.0
// The state that few actors need: a name, the actors that watch it, its timers.
//
// The state is attached to the mailbox for one incarnation. A lock of the slot guards it, and the
// incarnation also ends under that lock. So a thread that sees the incarnation alive under the lock
// sees its cold state, too.
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

// The message that tells `watcher` of the end of the actor in whose list the entry is. Made when
// the watch begins, so that an end allocates nothing.
struct watch_entry : sched::message_node {
    watch_entry(sched::address to, bool both_ways) noexcept;
    sched::address watcher;
    bool linked;
    down down_message;
    // The next entry in the watched actor's list.
    watch_entry* after = nullptr;
};

// A timer whose message is for the actor that it is attached to: src/actors/actor_timer.cpp.
struct attached_timer : base::list_node {
    bool attached = false; // true while the timer is in cold_state::timers
};
using timer_list = base::intrusive_queue<attached_timer>;

struct cold_state {
    std::string name;
    const actor_type* type = nullptr; // set for an actor with a name
    watch_entry* watch_entries = nullptr;
    std::size_t watch_count = 0; // the number of watch entries
    // At this count, add_watch removes the entries whose watcher has ended.
    std::size_t tidy_threshold = 8;
    void add_watch_entry(watch_entry& one) noexcept {
        one.after = std::exchange(watch_entries, &one);
        ++watch_count;
    }
    // Messages and termination notices that came while the constructor ran.
    message_list early_messages;
    timer_list timers;
};

// The lock of the slot's cold state; one shared lock for all slots that do not exist.
base::byte_lock& cold_state_lock(std::uint32_t slot) noexcept;

inline cold_state* cold_state_of(sched::mailbox& box) noexcept {
    return static_cast<cold_state*>(box.cold_state);
}

// Calls `add(cold_state&)` under the lock if `whom` is alive or under construction. False: `whom`
// has ended. Throws std::bad_alloc, but not if the actor has a cold state already.
template <class F>
bool attach_to(sched::address whom, F add) {
    std::unique_ptr<cold_state> fresh;
    for (;;) {
        {
            std::lock_guard guard(cold_state_lock(whom.slot));
            sched::mailbox* box = sched::mailbox_table::find(whom.slot);
            if (!box || box->is_over(whom)) return false;
            if (!box->cold_state) box->cold_state = fresh.release();
            if (box->cold_state) {
                add(*cold_state_of(*box));
                return true;
            }
        }
        fresh = std::make_unique<cold_state>(); // allocated outside the lock
    }
}

// Both serve the end of an actor: detach_timers under the lock, then cancel_timers outside it.
void detach_timers(timer_list& all) noexcept;
void cancel_timers(timer_list& all) noexcept;

// Throws std::bad_alloc.
watch_entry* make_watch_entry(sched::address watcher, bool linked);
void remove_watch_entry(sched::address whom, sched::address watcher, bool linked) noexcept;

// Stores a message that was undeliverable because its receiver's constructor runs; the message is
// sent when the constructor has returned. False: the receiver is not under construction, or there
// is no memory.
bool store_early_message(sched::message_node& one) noexcept;
// Called under the lock, just before the incarnation begins: the stored messages come before all
// messages to the living actor.
void deliver_early_messages(sched::mailbox& box) noexcept;

// Notifies all watchers in the list. False: none of them is alive any more.
bool notify_watchers(watch_entry* first, const down& down_message) noexcept;

// Ends the incarnation, even before it has begun, and notifies the watchers of `who`. True: a
// watcher was alive. `nobodys` receives the stored messages of an actor whose incarnation does not
// begin.
bool drop_cold_state(sched::mailbox& box, sched::address who, exit_reason why,
                     const std::exception_ptr& error, message_list* nobodys = nullptr) noexcept;

} // namespace sennit::detail
