// SPDX-License-Identifier: Apache-2.0
// The wakeup of a mailbox, the task by which other threads tell the owner that messages wait in the
// remote inbox; and the flag that says that this task is under way.
//
// Threads. Any thread may claim the wakeup. From its claim until the wakeup has run, that thread,
// then the queue that the wakeup lies in, owns it. The worker that runs the wakeup clears the flag.
//
// State.
//   `pending_`       1 while a thread has claimed the wakeup, or it lies in a queue; else 0.
//   Writers:
//                    the thread that claims, and the wakeup
//   `last_sender_`   the affinity of the worker that last sent from another worker; 0: not known.
//                    A hint, written by senders
//
// Protocol. A sender pushes its message, then claims. Only the thread that changed `pending_` from
// 0 to 1 fills in the wakeup and posts it. The wakeup first reads its own fields, then clears
// `pending_`, then looks at the remote inbox. All accesses to `pending_` are sequentially
// consistent; mailbox.hpp proves that no message is lost.
//
// Tested by tests/unit/actors/wakeup_test.cpp; explored by tests/sim/scenarios/actor.cpp.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/core/runnable.hpp"

#include <cstdint>
#include <utility>

namespace sennit::sched {

class wakeup_flag {
public:
    // When a runtime takes the mailbox.
    void reset() noexcept {
        pending_.store_rlx(0); // pairs with begin_incarnation
        // A number of the runtime's workers; pairs with begin_incarnation.
        last_sender_.store_rlx(0);
    }

    // Any thread. True: the caller posts the wakeup. False: the wakeup is under way.
    bool claim() noexcept { return pending_.load() == 0 && claim_unlooked(); }
    // Like `claim`, where the wakeup is most likely not under way.
    bool claim_unlooked() noexcept { return pending_.exchange(1) == 0; }
    // The wakeup, before it looks at the remote inbox.
    void clear() noexcept { pending_.store(0); }

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

    // ---- the worker that runs the wakeup, before it clears the flag
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
