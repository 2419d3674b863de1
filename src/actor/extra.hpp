// SPDX-License-Identifier: Apache-2.0
// What few actors have: a name, others that watch it, timers.
//
// Hangs on the mailbox, for one life. Guarded by a lock of the slot, under which the life also ends: so whoever finds
// the life under the lock finds what hangs on it.
#pragma once

#include "sched/mailbox.hpp"
#include "sched/mailbox_table.hpp"
#include "sennit/actor/actor_base.hpp"
#include "sennit/actor/mail_list.hpp"
#include "sennit/base/intrusive_queue.hpp"
#include "sennit/base/spin_lock.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace sennit::detail {

// Tells `watcher` of the end of who has it in its list; made when the watch begins, so that an end allocates nothing.
struct watch : sched::message_node {
    watch(sched::address to, bool both_ways) noexcept;
    sched::address watcher;
    bool linked;
    down news;
    watch* after = nullptr; // in the list of who is watched
};

// A timer whose message is for this actor: src/actor/actor_timer.cpp.
struct hung_timer : base::list_node {
    bool hung = false; // in the list below
};
using timer_list = base::intrusive_queue<hung_timer>;

struct extra {
    std::string name;
    const actor_type* type = nullptr; // of an actor with a name
    watch* watches = nullptr;
    std::size_t watched_by = 0; // how many those are
    std::size_t tidied_at = 8;  // with so many, those whose watcher has ended go
    void hang(watch& one) noexcept {
        one.after = std::exchange(watches, &one);
        ++watched_by;
    }
    message_list early_messages; // that came while its constructor ran: messages, and news
    timer_list timers;
};

base::byte_lock& extra_lock(std::uint32_t slot) noexcept; // one for all slots that are not there

inline extra* extra_of(sched::mailbox& box) noexcept {
    return static_cast<extra*>(box.extra);
}

// Calls `add(extra&)` under the lock if `whom` lives, or is about to: its constructor runs. False: it has ended. Throws
// std::bad_alloc, but not where an extra hangs already.
template <class F>
bool hang_on(sched::address whom, F add) {
    std::unique_ptr<extra> fresh;
    for (;;) {
        {
            std::lock_guard guard(extra_lock(whom.slot));
            sched::mailbox* box = sched::mailbox_table::find(whom.slot);
            if (!box || (box->generation() | 1) != whom.generation) return false;
            if (!box->extra) box->extra = fresh.release();
            if (box->extra) {
                add(*extra_of(*box));
                return true;
            }
        }
        fresh = std::make_unique<extra>(); // not under the lock
    }
}

// Of an end: first under the lock, then outside of it.
void take_timers_off(timer_list& all) noexcept;
void cancel_timers(timer_list& all) noexcept;

watch* make_watch(sched::address watcher, bool linked); // throws std::bad_alloc
void remove_watch(sched::address whom, sched::address watcher, bool linked) noexcept;

// Mail that reached nobody, because the constructor of its receiver runs: it is sent when that has returned. False:
// that is not so, or there is no memory.
bool store_early_message(sched::message_node& one) noexcept;
// Under the lock, just before the life begins: what was kept so comes before all that is sent to who lives.
void deliver_early_messages(sched::mailbox& box) noexcept;

// Tells those in the list. False: none of them was there any more.
bool tell_watches(watch* first, const down& news) noexcept;

// Ends the life, also one that has not begun, and tells those that watch `who`. True: somebody was told. `nobodys`:
// gets the mail for one whose life does not begin.
bool drop_extra(sched::mailbox& box, sched::address who, exit_reason why, const std::exception_ptr& error,
                message_list* nobodys = nullptr) noexcept;

} // namespace sennit::detail
