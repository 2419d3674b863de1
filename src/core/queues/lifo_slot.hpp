// SPDX-License-Identifier: Apache-2.0
// A worker's hand: the piece of mail that the running handler sent last, while nothing else is
// ready on that worker.
//
// Why. Where one message makes the next one, as in a ring or between two that talk, a queue is a
// detour: the mailbox would go in and at once come out again, and the mail in and out of the
// mailbox. So the first piece that a handler sends stays in the hand, as one store; when the
// handler's turn ends, and still nothing else is ready, the receiver's turn begins with it.
//
// What the hand holds has been sent: it is before all that comes later, and work that others may
// take. A piece goes there only if its receiver has no mail; what others push on it meanwhile goes
// behind that piece, and who would make themselves its owner first put the piece there.
//
// State, one word. Closed: no turn runs in the worker's thread, or its handler has blocked. Open:
// it may take a piece. Else that piece, which knows its receiver (message_node::target).
//
// Who writes. The owner makes closed open, at a turn's beginning, and open a piece, when a handler
// sends: outside of its queue's lock. What follows on a piece is written inside that lock: by the
// owner when it sends another one, when it leaves the context (worker::flush_lifo_slot) and when
// the turn ends; by a thief that robs the queue (worker::steal_tasks). So whoever sees something
// else than a piece is the only one who may change it. Order of one pair. A piece leaves the hand
// inside the lock, for where its receiver finds it. The owner's next piece goes into the open hand,
// on old hints at worst, and leaves it by the same lock, so behind that; or inside the lock at
// once. While the hand holds a piece, the owner waits for the lock and puts it away first. Sleep. A
// piece in the hand is a single piece of work, in the sense of src/core/README.md: `in_sight`
// counts it, and who puts it there looks for sleepers behind the store. Where there is no
// membarrier it stays closed.
//
// Tested by tests/unit/actors, explored by tests/sim/scenarios/actor.cpp.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/core/message_node.hpp"

namespace sennit::sched {

class lifo_slot {
public:
    // ---- the owner
    bool closed() const noexcept {
        return word_.load_rlx() == nullptr;
    }                                                   // own word: others do not close it
    void open() noexcept { word_.store_rlx(&nothing); } // orders nothing
    void close() noexcept { word_.store_rlx(nullptr); } // as above
    bool is_open() const noexcept {
        return word_.load_rlx() == &nothing;
    } // orders nothing, see above
    // It is open.
    void put(message_node& one, mailbox& to) noexcept {
        one.target = &to;
        word_.store_rel(&one); // pairs with held
    }

    // ---- inside the queue's lock, or by the owner
    // Null: no piece.
    message_node* held() const noexcept {
        message_node* one = word_.load_acq(); // pairs with put
        return one == &nothing ? nullptr : one;
    }
    void emptied() noexcept { word_.store_rlx(&nothing); } // orders nothing, see above

    // ---- anybody; see run_queue::size
    bool holds_some() const noexcept {
        const message_node* one = word_.load();
        return one && one != &nothing;
    }

private:
    static inline constinit message_node nothing{nullptr};
    base::atomic<message_node*> word_{nullptr};
};

} // namespace sennit::sched
