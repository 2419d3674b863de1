// SPDX-License-Identifier: Apache-2.0
// The owner of a mailbox: the worker whose queue lock guards the mailbox's idle/busy state and its
// list; and the runtime of that worker.
//
// Threads. Any thread may read the owner. It changes inside the lock of the present owner. Without
// a lock, it changes from null only, by the worker that holds the mailbox.
//
// State.
//   `owner_`     the owner; null while the mailbox travels from one worker to another
//   `runtime_`   the mailbox's runtime; null: none. Writer: the mailbox table
//
// Protocol.
// 1. A thread that needs the owner's lock reads `owner_`, enters that lock, and reads `owner_` once
//    more (`is`). If the owner has changed, the thread begins again.
// 2. A worker that begins or continues a batch makes itself the owner (`acquire`). If the mailbox
//    is in transit, it stores its address: no other thread changes the null. Otherwise it does so
//    inside the lock of the present owner.
// 3. The system may refuse the barrier that lets other threads into the owner's lock
//    (biased_lock::try_lock_remote). Then the batch posts a request to the owner's pinned queue.
//    The owner stores null inside its own lock, as for a mailbox in transit, and finishes the
//    request. The batch waits for that, and begins again at 2, perhaps in another worker's thread.
//
// Why 3 is no exception. The owner's half of its lock needs no barrier from other threads. So a
// step that the owner runs inside the lock is as good as a step of a thread that entered the lock
// remotely. Only the batch changes `owner_` of a mailbox that is busy and in no queue, so the owner
// that was asked is still the owner when it runs the request. The batch that waited finds null,
// because the owner's completion signal carries that store.
//
// Tested by tests/unit/actors/mailbox_owner_test.cpp; explored by tests/sim/scenarios/actor.cpp.
#pragma once

#include "sennit/detail/base/atomic.hpp"

namespace sennit::sched {

class runtime_core;
class worker;

class mailbox_owner {
public:
    // Gives the mailbox to a runtime, or takes it from its runtime, while it has no incarnation.
    void attach(runtime_core& runtime, worker& owner) noexcept {
        owner_.store_rlx(&owner);     // pairs with begin_incarnation
        runtime_.store_rlx(&runtime); // pairs with begin_incarnation
    }
    void detach() noexcept {
        runtime_.store_rlx(nullptr);
    } // orders nothing: null publishes nothing

    // ---- any thread
    //
    // The runtime of the mailbox. A mailbox that is alive or that a table has handed out has one;
    // `runtime_or_null` returns null for a mailbox of no runtime.
    runtime_core& runtime() const noexcept { return *runtime_or_null(); }
    // The load pairs with begin_incarnation: the runtime was written before.
    runtime_core* runtime_or_null() const noexcept { return runtime_.load_rlx(); }
    // The owner, or null. Also for a thread that does not know the worker: it may be a newly made
    // spare worker.
    worker* get() const noexcept { return owner_.load(); }
    bool is_probably(const worker& one) const noexcept {
        return owner_.load_rlx() == &one;
    } // a hint

    // ---- inside the lock of `one`, or the thread that carries the mailbox
    bool is(const worker& one) const noexcept {
        return owner_.load_rlx() == &one;
    } // under the lock

    // ---- inside the lock of the present owner
    void give_to(worker* next) noexcept { owner_.store(next); } // null: the mailbox is in transit
    // Puts a mailbox that leaves its owner's queue in transit. A thread that still sees the old
    // owner enters that owner's lock.
    void clear() noexcept { owner_.store_rlx(nullptr); } // under the lock

    // ---- the batch, in the thread of `me`
    //
    // Makes `me` the owner. False: the batch had to wait for the owner, so the caller may be in
    // another worker's thread, and calls again.
    bool acquire(worker& me) noexcept {
        if (is(me)) [[likely]]
            return true;
        return acquire_slow(me);
    }

private:
    struct request;
    [[gnu::noinline]] bool acquire_slow(worker& me) noexcept;

    base::atomic<worker*> owner_{nullptr};
    base::atomic<runtime_core*> runtime_{nullptr};
};

} // namespace sennit::sched
