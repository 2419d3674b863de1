// SPDX-License-Identifier: Apache-2.0
// What few actors have: a name, others that watch it.
//
// Hangs on the mailbox, for one life. Guarded by one of a few locks, chosen by the slot's number, under which the life
// also ends: so whoever finds the life under the lock finds what hangs on it.
#pragma once

#include "sched/mailbox.hpp"
#include "sched/mailbox_table.hpp"
#include "sennit/actor/actor_base.hpp"
#include "sennit/base/spin_lock.hpp"

#include <mutex>
#include <string>

namespace sennit::detail {

// Tells `watcher` of the end of who has it in its list; made when the watch begins, so that an end allocates nothing.
struct watch : sched::mail {
    watch(sched::address to, bool both_ways) noexcept;
    sched::address watcher;
    bool linked;
    down news;
    watch* after = nullptr; // in the list of who is watched
};

struct extra {
    std::string name;
    watch* watches = nullptr;
};

base::spin_lock& extra_lock(std::uint32_t slot) noexcept;

inline extra* extra_of(sched::mailbox& box) noexcept {
    return static_cast<extra*>(box.extra);
}

// Tells those in the list.
void tell_watches(watch* first, const down& news) noexcept;

// Ends the life, if it has begun, and tells those that watch `who`. True: there were some.
bool drop_extra(sched::mailbox& box, sched::address who, exit_reason why, const std::exception_ptr& error) noexcept;

} // namespace sennit::detail
