// SPDX-License-Identifier: Apache-2.0
// The capacity of a bounded mailbox: the count of its messages, and the senders that wait for room.
//
// Threads. Any thread may reserve room, return it, and wait for room. The batch returns the room of
// each message that it takes from the mailbox. The spawning thread sets the bound before an
// incarnation begins.
//
// State.
//   `bounds_`            the limit, with the when_full in the lowest two bits; 0: unbounded.
//   Writer:
//                        the spawning thread, before the incarnation begins
//   `queued_`            the messages that are counted and not yet handled. Writers: any sender,
//   and
//                        the batch. Whichever thread counts a message in, a batch or `unreserve`
//                        counts it out, in whichever incarnation that happens: no code ever sets
//                        the count. So a message that came too late for the last incarnation takes
//                        room of this one, until a batch has returned it
//   `senders_waiting_`   1 if senders wait for room. Writers: senders, and the thread that wakes
//                        them, both under the lock of their list
//
// Protocol.
// S1. A sender that finds no room sets `senders_waiting_`.
// S2. The sender looks for room once more, and waits in one of a few lists that all mailboxes
// share.
// B1. The batch counts a message out.
// B2. The batch looks at `senders_waiting_`, and wakes the senders.
//
// Why no sender waits for ever. S1, the look of S2, B1 and B2 are sequentially consistent: the
// sender sees the room, or the batch sees the sender. A sender looks again after it has been woken,
// so a list may also hold waiters of other mailboxes. The end of an incarnation need not wake
// senders. A waiting sender has seen a full mailbox, and batches after the end count the messages
// in it out, as dead.
//
// Tested by tests/unit/actors/mailbox_capacity_test.cpp; explored by tests/sim/scenarios/actor.cpp.
#pragma once

#include "actors/runtime/incarnation_counter.hpp"
#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/core/message_node.hpp"

#include <algorithm>
#include <cstdint>

namespace sennit::sched {

class mailbox_capacity {
public:
    // The largest limit: the low bits of `bounds_` hold the policy for a full mailbox.
    static constexpr std::uint32_t max_room = (1u << 30) - 1;

    // Makes the mailbox an unbounded one without messages, when a runtime takes it.
    void reset() noexcept {
        queued_.store_rlx(0);          // pairs with begin_incarnation
        senders_waiting_.store_rlx(0); // pairs with begin_incarnation
        set_bound(0, when_full::wait);
    }
    // Sets the bound of the next incarnation; 0: none. The count stays.
    void set_bound(std::uint32_t room, when_full policy) noexcept {
        // pairs with begin_incarnation
        bounds_.store_rlx(
            room != 0 ? std::min(room, max_room) << 2 | static_cast<std::uint32_t>(policy) : 0);
    }

    // Any thread that knows the incarnation: the bound was written before it began.
    bool bounded() const noexcept {
        return bounds_.load_rlx() != 0; // pairs with begin_incarnation
    }
    std::uint32_t room() const noexcept {
        return bounds_.load_rlx() >> 2; // pairs with begin_incarnation
    }
    when_full policy() const noexcept {
        return static_cast<when_full>(bounds_.load_rlx() & 3); // pairs with begin_incarnation
    }
    std::uint32_t queued() const noexcept { return queued_.load(); }
    bool has_room() const noexcept { return queued_.load() < room(); }
    // True if a sender waits, or is about to: the next `release` wakes it.
    bool senders_wait() const noexcept { return senders_waiting_.load() != 0; }

    // Counts one more message, if there is room; `full` means that there is none. A message that is
    // counted already stays so. See when_full.
    delivery reserve(message_node& one) noexcept;
    // Returns the room of a counted message of the mailbox with this slot. False: there are too
    // many messages, and the caller drops this one, the oldest.
    bool release(std::uint32_t slot) noexcept;
    // Returns the room of a message that no handler will get.
    void unreserve(message_node& one, std::uint32_t slot) noexcept {
        if (!one.counted) return;
        one.counted = false;
        (void)release(slot);
    }
    // Blocks until the mailbox may have room, or the incarnation `to` of the mailbox has ended.
    // False: the wait was cancelled. Reports show `box`, the mailbox.
    bool wait_for_room(const incarnation_counter& present, address to, const void* box) noexcept;

private:
    [[gnu::noinline, gnu::cold]] void wake_senders(std::uint32_t slot) noexcept;

    base::atomic<std::uint32_t> bounds_{0};
    base::atomic<std::uint32_t> queued_{0};
    base::atomic<std::uint8_t> senders_waiting_{0};
};

} // namespace sennit::sched
