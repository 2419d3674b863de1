// SPDX-License-Identifier: Apache-2.0
// A mailbox: a runnable that holds the messages of one actor and handles them one at a time.
//
// Threads. Any thread may deliver. A worker runs batches, and thieves and other workers enter the
// queue lock of the owner. A batch is one run of a mailbox on a worker; it handles some messages.
//
// State. Each member that has a class of its own is described in the head of that class's file,
// with the threads that may touch it.
//   `owner_`            the worker whose queue lock guards `batch_` and `local_messages_`; null
//                       while the mailbox travels from one worker to another (mailbox_owner.hpp)
//   `batch_`            busy while the mailbox lies in a queue, or while its batch runs or is
//                       suspended; otherwise idle (batch_state.hpp)
//   `local_messages_`   messages from the owner's thread, in order, the urgent ones first
//                       (urgent_order.hpp)
//   `remote_`           messages from all other threads (remote_inbox.hpp)
//   `wakeup_flag_`      set while `wakeup_` lies in a queue (wakeup.hpp)
//   `incarnation_`      the actor that lives here, as a number (incarnation_counter.hpp)
//   `capacity`          the room of a bounded mailbox (mailbox_capacity.hpp)
//
// Sources. mailbox.cpp delivers messages and runs wakeups; mailbox_batch.cpp runs batches;
// mailbox_incarnation.cpp begins and ends incarnations. mailbox_backpressure.cpp is step 7 of the
// protocol, mailbox_migration.cpp step 8, and mailbox_locals.cpp the end of fiber_local values.
//
// Protocol.
// 1. The owner's thread delivers inside its own queue lock (biased_lock: no fence, no locked
//    instruction). It appends to `local_messages_`, behind the messages that other threads have
//    sent. If the mailbox is idle, the owner makes it busy and queues it. The first message that a
//    handler sends stays in the LIFO slot of its worker instead, when nothing else is ready there:
//    lifo_slot.hpp.
// 2. Every other thread pushes the message on `remote_`, then reads `owner_`. If `owner_` is null,
//    the sender is done: the worker that holds the mailbox begins a batch, and reads `remote_`
//    after it has written `owner_`. Otherwise the sender claims the wakeup. The sender that gets
//    the claim posts the wakeup to the owner's pinned queue. An idle worker takes the
//    wakeup from there if the owner makes no progress.
// 3. The wakeup clears its flag, then looks. If `remote_` is empty, a batch has taken the
//    messages. If the mailbox is idle, the wakeup makes it busy and makes its own worker the owner,
//    both under the old owner's lock, and runs a batch. If the mailbox is busy, the wakeup leaves
//    it.
// 4. A batch makes its worker the owner, then takes all messages: `local_messages_`, then
//    `remote_`. The batch ends after 64 messages (or, with more waiting, after some 100 us) or when
//    nothing is left. Inside the owner's lock the batch looks once more. If there is a message, the
//    mailbox goes back into the queue; otherwise the mailbox becomes idle. The condition is
//    batch_state::may_end.
// 5. A handler that blocks takes its context, and the batch, with it. If the handler continues in
//    another worker's thread, that worker makes itself the owner under the old owner's lock before
//    it touches any other state.
// 6. The system may come to refuse the barrier that lets other threads than the owner into the
//    owner's lock (biased_lock::try_lock_remote). Work that must be done inside that lock then goes
//    to the owner, through its pinned queue, and only the owner may run it.
//    * A batch that continues elsewhere asks the owner to write null to `owner_`, and waits
//      (mailbox_owner.hpp, 3).
//    * A wakeup goes back to the owner.
//    * The first wakeup of a mailbox that is bound to another worker sends the mailbox on its way
//      to that worker.
//    * Optional work is left out: `pull_to_this_worker`, `set_initial_owner`.
// 7. Handlers may send faster to a mailbox of another worker than that mailbox takes its messages
//    (flood_detector.hpp). The sending batch then ends after the current message, and the sender's
//    mailbox continues behind the receiver. Inside its owner's lock the rest of the batch goes back
//    before `local_messages_`, and `owner_` becomes null; the mailbox stays busy. If the receiver
//    has an owner, and the batch gets the claim of the sender's wakeup, that wakeup carries the
//    mailbox to that owner, as in (8). Otherwise the mailbox goes into the injector: a receiver
//    without an owner most likely lies there, too.
// 8. An idle mailbox that receives messages from another worker sometimes migrates there
//    (mailbox_migration.cpp). Inside its owner's lock it becomes busy and `owner_` becomes null, if
//    the batch gets the claim of its wakeup. The wakeup carries the mailbox along, clears its flag
//    and begins a batch, as if the mailbox had lain in a queue.
//
// Why at most one batch runs. Only the thread that changes idle to busy, under the owner's lock,
// starts a batch, or queues the mailbox so that the queue starts it. The mailbox stays busy until
// the batch ends. Only the owner's thread and the batch touch `local_messages_`. While a batch runs
// in another thread than the owner's, the owner's thread does not touch the list.
//
// Why no message is lost. A sender pushes on `remote_` before it claims the wakeup. If another
// thread has claimed it, the wakeup has yet to clear its flag, and looks at `remote_` and `batch_`
// after that. So in every case either some wakeup looks after the push, or a batch has taken the
// message. If the wakeup finds the mailbox busy, the batch's last look (4), in the same lock, comes
// later and sees the push. If the sender finds `owner_` null, the batch writes `owner_` after that
// look, and takes `remote_` after that write. The push, the look, the write and the take are all
// sequentially consistent.
//
// Why messages of one sender to one receiver stay in order. Earlier messages that came by `remote_`
// are in `local_messages_`, or taken, before a local delivery appends behind them. A batch takes
// `local_messages_` first, in the only thread that adds to it.
//
// Why (6) is no exception. mailbox_owner.hpp shows that the owner's null is as good as a change
// inside the lock. After that null, all messages come by `remote_` and no sender sends a wakeup.
// The batch that waited makes its worker the owner, and takes `remote_` after that, or looks at it
// at its end. This is the case of null in the proof that no message is lost. A wakeup that goes
// back to the owner is posted once more, as by a sender. If a sender has posted the wakeup
// meanwhile, that posting looks instead. The owner runs the wakeup as soon as it makes progress, as
// it does for any message. A spare worker that was released is woken (spare_worker.cpp).
//
// Tried and rejected: one word with an exchange for each delivery and a compare-and-swap for each
// end of a batch (as in Pony). That adds two locked instructions, about 10 ns, to a hop of 10 ns.
// An owner also keeps neighbours in a ring together.
//
// Tested by tests/unit/actors; explored by tests/sim/scenarios/actor*.cpp.
#pragma once

#include "actors/runtime/batch_state.hpp"
#include "actors/runtime/inbox_list.hpp"
#include "actors/runtime/incarnation_counter.hpp"
#include "actors/runtime/mailbox_capacity.hpp"
#include "actors/runtime/mailbox_owner.hpp"
#include "actors/runtime/mailbox_table.hpp"
#include "actors/runtime/remote_inbox.hpp"
#include "actors/runtime/urgent_order.hpp"
#include "actors/runtime/wakeup.hpp"
#include "core/switch/context.hpp"
#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/cache_line.hpp"
#include "sennit/detail/core/message_node.hpp"
#include "sennit/detail/core/runnable.hpp"
#include "sennit/detail/sys/spin_lock.hpp"

#include <cstdint>
#include <utility>

namespace sennit::sched {

class context;
class worker;
class runtime_core;

class alignas(base::cache_line) mailbox : public runnable {
public:
    explicit mailbox(std::uint32_t slot) noexcept
        : runnable(&mailbox::run_queued), incarnation_(slot) {}
    mailbox(const mailbox&) = delete;

    // Makes the mailbox part of `runtime`; before, it belongs to no runtime, like a new one. Only
    // the worker with `affinity` may run it; 0: any worker. Threads that hold an old address may
    // look at the mailbox meanwhile.
    void attach_to_runtime(runtime_core& runtime, worker& owner, std::uint16_t affinity) noexcept;
    // Ends the mailbox's part in its runtime.
    void detach_from_runtime() noexcept;
    // True if the mailbox has used up its generations.
    bool generations_exhausted() const noexcept { return incarnation_.exhausted(); }

    // Puts the message into this worker's LIFO slot. False: the message does not qualify, and
    // nothing has changed.
    bool try_put_in_lifo_slot(std::uint32_t generation, message_node& one, worker& me) noexcept;
    // Delivers a message. Any thread may call this.
    delivery accept(address to, message_node& one) noexcept;
    // The present incarnation, and addresses of it: see incarnation_counter.hpp.
    std::uint32_t generation() const noexcept { return incarnation_.generation(); }
    bool ended(address incarnation) const noexcept { return incarnation_.ended(incarnation); }
    bool is_over(address incarnation) const noexcept { return incarnation_.is_over(incarnation); }
    bool is_alive() const noexcept { return incarnation_.is_alive(); }
    address self() const noexcept { return incarnation_.self(); }
    address batch_address() const noexcept { return incarnation_.batch_address(); }
    // The runtime of the mailbox; `runtime_or_null` returns null for a mailbox of no runtime.
    runtime_core& runtime() const noexcept { return owner_.runtime(); }
    runtime_core* runtime_or_null() const noexcept { return owner_.runtime_or_null(); }
    bool bound() const noexcept { return wakeup_.bound(); }

    // Makes the worker with affinity `wanted` the owner, before an incarnation begins. Does nothing
    // if the present owner's lock cannot be entered immediately.
    void set_initial_owner(std::uint16_t wanted) noexcept;
    // Begins an incarnation. The caller has just taken the slot from the table, and has written all
    // that the incarnation needs.
    void begin_incarnation() noexcept { incarnation_.begin(); }
    // `push_early_message` runs before an incarnation begins, `notify_of_early_messages` after it
    // has begun. Both serve messages that arrived while the actor was under construction.
    void push_early_message(message_node& one) noexcept {
        one.generation = incarnation_.next();
        remote_.push(one);
    }
    void notify_of_early_messages() noexcept { notify_owner(); }
    // Ends the incarnation; called inside its batch. Messages for the ended incarnation become dead
    // letters. When the batch ends, and none of those messages is left, the mailbox notifies the
    // incarnation's owner and returns the slot to the table.
    void end_incarnation() noexcept;
    // Blocks until the mailbox may have room, or the incarnation has ended. False: the wait was
    // cancelled.
    bool wait_for_room(address incarnation) noexcept {
        return capacity.wait_for_room(incarnation_, incarnation, this);
    }
    // Skips one generation in which no incarnation begins: a handed-out address of that generation
    // never becomes alive.
    void skip_incarnation() noexcept { incarnation_.skip(); }

    // The mailbox whose batch runs on `here`, the running context; null if there is none.
    static mailbox* current(const context& here) noexcept {
        return static_cast<mailbox*>(here.current_receiver());
    }
    // The running strand has created fiber_local values. If a batch runs here, the values end with
    // the current message.
    static void note_locals() noexcept;

    // Delivers the message in the victim's LIFO slot to its receiver. A thief, or the victim
    // itself, calls this inside the lock of the victim's queue. True: the receiver was idle, and
    // lies in that queue now.
    static bool deliver_from_lifo_slot(worker& victim) noexcept;

    // True if `item` is the wakeup of a busy mailbox, whose batch will look for messages anyway. A
    // hint: the batch may have ended meanwhile. Called inside the lock of the pinned queue that
    // holds `item`.
    static bool is_stale_wakeup(runnable& item) noexcept;

private:
    friend class mailbox_table;
    friend class worker;
    friend void clear_owner(runnable& mailbox) noexcept;
    static void run_queued(runnable* self) noexcept;
    static mailbox& of(wakeup& mine) noexcept;
    static void run_wakeup(runnable* self) noexcept;
    bool deliver_as_owner(message_node& one, worker& me) noexcept;
    bool receive(message_node& one, worker& owner) noexcept;
    static void flush_lifo_slot(worker& me) noexcept;
    mailbox* take_next(worker& me, bool at_once, message_node*& given) noexcept;
    void deliver_as_other_worker(message_node& one, worker& me) noexcept;
    void deliver_remote(message_node& one) noexcept;
    void notify_owner() noexcept;
    bool pull_to_this_worker(message_node& one, worker& me, worker& owner) noexcept;
    static void run_batches(mailbox& first) noexcept;
    static mailbox* run_hand_off_chain(mailbox* box, message_node* given, worker*& me,
                                       context& here, unsigned& left) noexcept;
    [[gnu::noinline, gnu::cold]] inbox_list end_locals(inbox_list rest) noexcept;
    void forget_locals() noexcept;
    void handle(message_node& one, std::uint32_t incarnation) noexcept;
    void handle_usual(message_node& one) noexcept;
    void handle_unusual(message_node& one, std::uint32_t incarnation) noexcept;
    bool is_usual(const message_node& one, std::uint32_t incarnation) const noexcept {
        return one.generation == incarnation && !batch_.marked();
    }
    bool ends_early(const message_node& one, std::uint32_t incarnation) const noexcept;
    inbox_list run_batch(worker*& me) noexcept;
    [[gnu::noinline]] inbox_list run_long_batch(inbox_list batch, worker*& me) noexcept;
    inbox_list take_all() noexcept;
    static unsigned extend_batch(bool more, std::int64_t& until) noexcept;
    [[gnu::noinline]] worker* reacquire_after_move() noexcept;
    mailbox* end_batch(inbox_list rest, worker& me, bool more, message_node*& given) noexcept;
    bool end_batch_locked(inbox_list rest, bool& retire) noexcept;
    bool reschedule_behind(mailbox& receiver, inbox_list rest, worker& me) noexcept;
    void run_batches_and_migrate(worker& me) noexcept;
    void migrate_to_sender(worker& me) noexcept;
    [[gnu::noinline, gnu::cold]] void retire_slot() noexcept;
    bool try_activate_here(worker& me) noexcept;
    [[gnu::noinline, gnu::cold]] void return_wakeup_to_owner(worker& owner) noexcept;
    bool runs_on(const worker& one) const noexcept;
    void bind_batch(context& here, const worker& me) const noexcept;
    static bool is_for_next_incarnation(const message_node& one,
                                        std::uint32_t incarnation) noexcept;
    // Inside the owner's lock. True if a batch may begin with the message in the LIFO slot of `me`:
    // no other message has come. An idle mailbox holds no local messages (batch_state.hpp).
    bool may_begin_with_it(const worker& me) const noexcept {
        return owner_.is(me) && batch_.idle() && !remote_.has_messages();
    }
    // Adds a message to `local_messages_`.
    void enqueue(message_node& one) noexcept { urgent_.add(local_messages_, one); }
    [[gnu::noinline, gnu::cold]] void reject(message_node& one, delivery why) noexcept;

    // A hop between two mailboxes of one worker touches the first two cache lines. The first line
    // is the batch's: it holds all state that each message changes. The first two members lie in
    // the part of its last word that the runnable leaves free.
    batch_state batch_;

public:
    // The actor layer's: guards the state that `cold_state` leads to.
    base::byte_lock cold_state_lock;

private:
    inbox_list local_messages_;

public:
    // Messages handled in this incarnation. Only the batch writes it.
    base::atomic<std::uint64_t> handled{0};

private:
    // The second line is the senders': a batch looks here once for many messages. It has no gap:
    // each of the members uses the tail of the one before it.
    alignas(base::cache_line) [[no_unique_address]] remote_inbox remote_;
    incarnation_counter incarnation_;

public:
    [[no_unique_address]] mailbox_capacity capacity;

private:
    wakeup_flag wakeup_flag_;

public:
    // The actor layer's, for one incarnation, as are `object`, `cold_state`, `group` and `asks`.
    std::uint8_t shard = 0;

private:
    mailbox_owner owner_;

public:
    // The actor layer's object: the first argument of its handlers.
    void* object = nullptr;
    void* cold_state = nullptr;

private:
    // The third line holds state that is rarely used.
    alignas(base::cache_line) wakeup wakeup_{&mailbox::run_wakeup};
    urgent_order urgent_; // The order of `local_messages_`.

public:
    base::atomic<incarnation_owner*> group{nullptr};
    // The actor that the handler waits for: its address as one word; 0: none.
    base::atomic<std::uint64_t> asks{0};
};

static_assert(sizeof(runnable) == 40);
static_assert(sizeof(mailbox) <= 192);

// The actor layer's function that stores a message for an actor under construction. False: no such
// actor exists. Set before any thread can have the address of such an actor.
using early_message_store = bool (*)(message_node& early) noexcept;
void set_early_message_store(early_message_store how) noexcept;

inline mailbox* mailbox_table::find(std::uint32_t slot) noexcept {
    // Orders nothing: slots are made after the directory has their chunk, and chunks stay. So the
    // knowledge of the slot must come with the address. The state that an incarnation began with
    // comes with `generation`.
    mailbox* chunk = directory[slot >> chunk_bits].load_rlx();
    return chunk ? chunk + (slot & (chunk_size - 1)) : nullptr;
}

} // namespace sennit::sched
