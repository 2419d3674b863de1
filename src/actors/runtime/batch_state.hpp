// SPDX-License-Identifier: Apache-2.0
// The state of a mailbox as a task: idle, or busy with a batch; and the marks that take the batch
// off its fast paths.
//
// Threads. The lock of the mailbox's owner guards `busy_`; other threads read it as a hint. The
// batch alone touches `marks_`.
//
// State.
//   `busy_`    true while the mailbox lies in a queue, or while its batch runs or is suspended;
//              false: the mailbox is idle, and holds no local messages
//   `marks_`   bits of `mark`; 0 in almost every batch
//
// Protocol. Only the thread that changes idle to busy, in the owner's lock, starts a batch, or
// queues the mailbox so that the queue starts it. The batch alone changes busy to idle, in the
// owner's lock, after `may_end` has returned true in that lock. `may_end` is the only place with
// the condition for the end of a batch. The batch of an incarnation that has ended returns the
// mailbox's slot when it ends: `end` tells it so, once.
//
// Tested by tests/unit/actors/batch_state_test.cpp; explored by tests/sim/scenarios/actor.cpp.
#pragma once

#include "actors/runtime/inbox_list.hpp"
#include "actors/runtime/remote_inbox.hpp"
#include "sennit/detail/base/atomic.hpp"
#include "sys/mutant.hpp"

#include <cstdint>

namespace sennit::sched {

class batch_state {
public:
    enum mark : std::uint8_t {
        retired = 1,         // the incarnation has ended, and the slot goes back after the batch
        floods_receiver = 2, // the batch outruns a receiver, and ends early
        has_locals = 4       // the batch's handlers have created fiber_local values
    };

    // For an idle mailbox that a runtime takes.
    void reset() noexcept {
        busy_.store_rlx(false); // pairs with begin_incarnation
        marks_ = 0;
    }

    // ---- inside the owner's lock
    bool idle() const noexcept { return !busy_.load_rlx(); } // under the lock
    // Makes the idle mailbox busy.
    void begin() noexcept { busy_.store_rlx(true); } // under the lock
    // Makes the mailbox busy. True: it was idle.
    bool try_begin() noexcept {
        if (!idle()) return false;
        begin();
        return true;
    }
    // True if the batch may end: no message is left. The look at `remote` comes after the batch's
    // last take, so it sees each message whose wakeup has found the mailbox busy.
    static bool may_end(const inbox_list& local, const remote_inbox& remote) noexcept {
        return !local.first && (!remote.has_messages() || SENNIT_MUTANT("last look of a batch"));
    }
    // Ends the batch of a mailbox without marks. Requires `may_end`.
    void end_unmarked() noexcept { busy_.store_rlx(false); } // under the lock
    // Ends the batch. Requires `may_end`. True: the incarnation has ended, so the caller returns
    // the slot.
    bool end() noexcept {
        end_unmarked();
        const bool retire = has(retired);
        // Late messages make batches, too.
        marks_ = SENNIT_MUTANT("a slot goes back once") ? marks_ : 0;
        return retire;
    }

    // ---- any thread
    bool busy_hint() const noexcept { return busy_.load_rlx(); } // a hint

    // ---- the batch
    bool marked() const noexcept { return marks_ != 0; }
    bool has(mark which) const noexcept { return (marks_ & which) != 0; }
    void set(mark which) noexcept { marks_ |= which; }
    void clear(mark which) noexcept { marks_ &= static_cast<std::uint8_t>(~which); }
    void clear_all_but(mark which) noexcept { marks_ &= which; }
    // True if the batch floods a receiver, and its incarnation is alive.
    bool only_floods() const noexcept {
        return (marks_ & (floods_receiver | retired)) == floods_receiver;
    }

private:
    base::atomic<bool> busy_{false};
    std::uint8_t marks_ = 0;
};

} // namespace sennit::sched
