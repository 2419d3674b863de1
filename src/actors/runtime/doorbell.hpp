// SPDX-License-Identifier: Apache-2.0
// The doorbell of a mailbox: the flag by which other threads tell the owner that messages wait in
// the remote inbox; and the wakeup, the task that a thread queues when it has rung.
//
// Threads. Any thread may ring. The worker that runs the wakeup answers. Between a ring and the
// answer the wakeup lies in a queue, and the thread that claims, then that queue, owns it.
//
// State.
//   `pending_`       1 (rung) while the wakeup lies in a queue; 0: silent. Writers: the thread that
//                    rings, and the wakeup, which answers
//   `last_sender_`   the affinity of the worker that last sent from another worker; 0: not known.
//                    A hint, written by senders
//
// Protocol. A sender pushes its message, then rings. Only the thread that changed `pending_` from 0
// to 1 fills in the wakeup and posts it. The wakeup answers: it first reads its own fields, then
// clears `pending_`, then looks at the remote inbox. All accesses to `pending_` are sequentially
// consistent; mailbox.hpp proves that no message is lost.
//
// Tested by tests/unit/actors/doorbell_test.cpp; explored by tests/sim/scenarios/actor.cpp.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/core/runnable.hpp"

#include <cstdint>
#include <utility>

namespace sennit::sched {

class doorbell {
public:
    // Silences the bell, when a runtime takes the mailbox.
    void reset() noexcept {
        pending_.store_rlx(0); // pairs with begin_incarnation
        last_sender_.store_rlx(
            0); // pairs with begin_incarnation; a number of the runtime's workers
    }

    // Any thread. True: the caller posts the wakeup. False: the wakeup is under way.
    bool claim() noexcept { return pending_.load() == 0 && claim_unlooked(); }
    // Like `claim`, where the wakeup is most likely not under way.
    bool claim_unlooked() noexcept { return pending_.exchange(1) == 0; }
    // The wakeup, before it looks at the remote inbox.
    void answer() noexcept { pending_.store(0); }

    // A sender on another worker; 0: on a worker that the mailbox cannot migrate to.
    void note_sender(std::uint8_t affinity) noexcept { last_sender_.store_rlx(affinity); } // a hint
    std::uint8_t last_sender() const noexcept { return last_sender_.load_rlx(); }          // a hint

private:
    base::atomic<std::uint8_t> pending_{0};
    base::atomic<std::uint8_t> last_sender_{0};
};

// The task that tells a mailbox about remote messages. It exists only as a member of its mailbox.
class wakeup : public runnable {
public:
    explicit wakeup(void (*function)(runnable*) noexcept) noexcept : runnable(function) {}

    // For a mailbox that a runtime takes. `only`: the affinity of the one worker that may run the
    // mailbox; 0: any worker may.
    void reset(std::uint16_t only) noexcept {
        order = UINT64_MAX;
        affinity = 0;
        in_order = false;
        owner_only_ = false;
        carries_mailbox_ = false;
        bound_ = only != 0;
        affinity_is_soft = only == 0;
    }
    // True if the mailbox was made for one worker; otherwise the choice of a worker is free.
    bool bound() const noexcept { return bound_; }

    // ---- the thread that has rung
    void address_to(std::uint16_t worker) noexcept { affinity = worker; }
    // Only the owner may read the wakeup, this one time.
    void address_to_owner_only(std::uint16_t owner) noexcept {
        owner_only_ = affinity_is_soft;
        affinity_is_soft = false;
        affinity = owner;
    }
    // The wakeup carries its busy mailbox to `worker`: the reader begins a batch.
    void carry_mailbox_to(std::uint16_t worker) noexcept {
        carries_mailbox_ = true;
        affinity = worker;
    }

    // ---- the queue that holds the wakeup, inside its lock
    bool carries_mailbox() const noexcept { return carries_mailbox_; }

    // ---- the worker that runs the wakeup, before it answers the doorbell
    //
    // Makes the wakeup one for any worker again. True: it carries its mailbox.
    bool begin() noexcept {
        if (std::exchange(owner_only_, false)) [[unlikely]]
            affinity_is_soft = true;
        return std::exchange(carries_mailbox_, false);
    }

private:
    // These lie in the tail that the runnable leaves free.
    bool owner_only_ = false;
    bool carries_mailbox_ = false;
    bool bound_ = false;
};

} // namespace sennit::sched
