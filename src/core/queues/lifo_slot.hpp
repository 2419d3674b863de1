// SPDX-License-Identifier: Apache-2.0
// The LIFO slot of a worker: holds at most one message, the last message of the running handler,
// while the worker has nothing else ready.
//
// Why. Where one message causes the next, as in a ring or a ping-pong, a queue is a detour: the
// mailbox would enter the run queue and leave it immediately, and the message would enter and leave
// the mailbox. So the first message that a handler sends stays in the LIFO slot, as one store. When
// the handler's batch ends and still nothing else is ready, the receiver's batch begins with that
// message.
//
// A message in the slot has been sent. It precedes every later message, and it is work that other
// workers may take. A message enters the slot only if its receiver has no other message. Messages
// that other threads push to the receiver meanwhile go behind it, and a worker that makes itself
// the receiver's owner first moves the slot's message into the mailbox.
//
// State, one word. Closed: no batch runs on the worker's thread, or its handler has blocked. Open:
// the slot may take a message. Otherwise the word is the address of the message, which names its
// receiver (message_node::target).
//
// Writers. The owner changes closed to open, at the beginning of a batch, and open to a message,
// when a handler sends: both outside its queue's lock. Every change from a message to another state
// is made inside that lock. The owner makes it when it sends another message, when it leaves the
// context (worker::flush_lifo_slot) and when the batch ends. A thief makes it when it steals from
// the queue (thief::steal_tasks). So in each state the word has one writer: the owner while it is
// no message, and the holder of the lock while it is one.
//
// Order of messages between one sender and one receiver. A message leaves the slot inside the lock,
// to the place where its receiver finds it. The owner's next message enters the open slot, on stale
// hints at worst, and leaves it by the same lock, so behind the first; or it is queued inside the
// lock directly. While the slot holds a message, the owner waits for the lock and moves that
// message away first.
//
// Parking. A message in the slot is a lone task, in the sense of src/core/README.md: `in_sight`
// counts it, and the thread that stores it looks for parked workers after the store. Where there is
// no membarrier the slot stays closed.
//
// Tested by tests/unit/actors, explored by tests/sim/scenarios/actor_lifo_slot.cpp.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/core/message_node.hpp"

namespace sennit::sched {

class lifo_slot {
public:
    // ---- the owner
    // Own word: no other thread closes it.
    bool closed() const noexcept { return word_.load_rlx() == nullptr; }
    void open() noexcept { word_.store_rlx(&nothing); } // Orders nothing.
    void close() noexcept { word_.store_rlx(nullptr); } // Orders nothing.
    // Orders nothing: the owner's own word.
    bool is_open() const noexcept { return word_.load_rlx() == &nothing; }
    // Requires that the slot is open.
    void put(message_node& one, mailbox& to) noexcept {
        one.target = &to;
        word_.store_rel(&one); // pairs with held
    }

    // ---- inside the queue's lock, or by the owner
    //
    // Returns the message in the slot; null if there is none.
    message_node* held() const noexcept {
        message_node* one = word_.load_acq(); // pairs with put
        return one == &nothing ? nullptr : one;
    }
    void emptied() noexcept { word_.store_rlx(&nothing); } // Orders nothing: the queue's lock does.

    // ---- any thread; see run_queue::size
    bool holds_some() const noexcept {
        const message_node* one = word_.load();
        return one && one != &nothing;
    }

private:
    static inline constinit message_node nothing{nullptr};
    base::atomic<message_node*> word_{nullptr};
};

} // namespace sennit::sched
