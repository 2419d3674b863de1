// SPDX-License-Identifier: Apache-2.0
// The remote inbox of a mailbox: the messages from all threads but the owner's, newest first.
//
// Threads. Any thread may push, and may ask `has_messages`. Only a thread that may touch the
// mailbox's list takes the messages: the batch, or a thread inside the lock of the mailbox's owner.
//
// State.
//   `newest_`   the newest message, linked to older ones by `message_node::next`; null: none.
//               Writers: any sender, and the thread that takes
//   `takes_`    how often a thread has taken the messages. Writer: the thread that takes; readers:
//               senders, as a hint
//
// Protocol. A sender pushes (a compare-and-swap), then looks at the owner and at the wakeup_flag
// (mailbox.hpp, 2). A wakeup clears the wakeup_flag, then asks `has_messages`. A batch asks
// `has_messages` before it ends. All of these are sequentially consistent; mailbox.hpp proves that
// no message is lost. The thread that takes reverses the messages, so that they come oldest first.
//
// Tested by tests/unit/actors/remote_inbox_test.cpp; explored by tests/sim/scenarios/actor.cpp.
#pragma once

#include "actors/runtime/inbox_list.hpp"
#include "actors/runtime/urgent_order.hpp"
#include "sennit/detail/base/atomic.hpp"

#include <cstdint>

namespace sennit::sched {

class remote_inbox {
public:
    // Empties the inbox before an incarnation, without a look at the messages.
    void reset() noexcept {
        newest_.store_rlx(nullptr); // pairs with begin_incarnation
        takes_.store_rlx(0);        // pairs with begin_incarnation
    }

    // Any thread. Adds a message.
    void push(message_node& one) noexcept {
        message_node* newest = newest_.load_rlx(); // orders nothing: the CAS decides
        do {
            one.next = newest;
        } while (!newest_.cas(newest, &one));
    }
    // Any thread.
    bool has_messages() const noexcept { return newest_.load() != nullptr; }
    // A hint for senders. For a thread that may take the messages, `take_all` acquires.
    bool may_have_messages() const noexcept {
        return newest_.load_rlx() != nullptr; // a hint; or pairs with push, by take_all
    }
    // Any thread; a hint. The number changes when the messages are taken.
    std::uint32_t takes() const noexcept { return takes_.load_rlx(); } // a hint

    // Takes all messages, and adds them to `into` oldest first: the urgent ones behind the urgent
    // messages of `into`, the usual ones at the end.
    [[gnu::noinline]] void take_all(inbox_list& into, urgent_order& order) noexcept;

private:
    base::atomic<message_node*> newest_{nullptr};
    base::atomic<std::uint32_t> takes_{0};
};

} // namespace sennit::sched
