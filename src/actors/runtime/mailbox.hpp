// SPDX-License-Identifier: Apache-2.0
// A mailbox: a runnable that has mail, and handles it one piece at a time.
//
// State. `owner_`: the worker whose queue's lock guards `busy_` and `local_messages_`; null: on its
// way from one worker to another. `busy_`: it lies in a queue, or a turn of it runs or is
// suspended; if not, it is idle. `local_messages_`: mail from the owner's thread, in order, what is
// urgent first (mailbox_urgent.cpp). `remote_`: mail from all others, newest first.
// `wakeup_pending_`: `wakeup_` lies in a queue.
//
// Protocol.
// 1. The owner's thread delivers inside its own queue's lock (biased_lock: no fence, no locked
// instruction): appends to
//    `local_messages_`, behind what has come from others; if idle: busy, and into the queue.
//    The first piece that a handler sends stays in its worker's hand instead, when nothing is ready
//    there: lifo_slot.hpp.
// 2. Everybody else pushes on `remote_`, then looks at `owner_`. Null: done, whoever has it begins
// a turn with it and
//    looks after it has written `owner_`. Else sets `wakeup_pending_`, and who changed it sends the
//    notice to the owner's inbox, from which an idle worker takes it if the owner does not get on.
// 3. The notice clears `wakeup_pending_`, then looks: no mail on `remote_`: a turn has taken it.
// Idle: makes it busy, and
//    itself the owner, under that owner's lock, and runs a turn. Busy: leaves it.
// 4. A turn makes its worker the owner, then takes all mail: `local_messages_`, then `remote_`. It
// ends after 64 pieces (or,
//    with more waiting, some 100 us) or when nothing is left. Inside the owner's lock it looks once
//    more: something there: back into the queue; else idle.
// 5. A handler that blocks takes its context, and the turn, with it. If it goes on in another
// worker's thread, that one
//    makes itself the owner under the old one's lock before it touches anything.
// 6. The system may come to refuse what lets others than the owner into that lock
// (biased_lock::try_lock_remote). Then what must
//    be done there is asked of the owner, by its inbox, and it alone may run that: a turn that goes
//    on elsewhere has it write null to `owner_`, as for a mailbox on its way, and waits until it
//    has; a notice goes back to it; the first notice of one that is bound to another worker sends
//    it on its way there. What need not be done is not: `pull_to_this_worker`, `set_initial_owner`.
//
// 7. A turn whose handlers send faster to a mailbox of another worker than that is looked at
// (flood_detector.hpp) ends after
//    that piece, and the sender's mailbox goes on behind the receiver. Inside its owner's lock the
//    rest goes back before `local_messages_`, and `owner_` becomes null; the mailbox stays busy.
//    Where the receiver has an owner, and `wakeup_pending_` was 0 and is 1 now, the sender's notice
//    takes it to that owner, as in (8). Else it goes into the shared queue: a receiver without an
//    owner lies there, too, most likely.
//
// 8. An idle one that was sent to from another worker goes there now and then
// (mailbox_migration.cpp): inside its owner's
//    lock it becomes busy and `owner_` null, if `wakeup_pending_` was 0 and is 1 now; its notice
//    takes it along, clears `wakeup_pending_` and begins a turn, as if it had lain in a queue.
//
// Why one turn at a time: only who changes idle to busy, under the owner's lock, starts one, or
// makes it be started by the queue; and busy ends with the turn. Only the owner's thread and the
// turn touch `local_messages_`; while a turn runs in another thread than the owner's, it does not.
// Why nothing is lost: a push on `remote_` comes before the look at `wakeup_pending_`. If that says
// 1, the notice has yet to clear it, and looks at `remote_` and `busy_` after that; so whatever
// happens, some notice looks there behind the push, or a turn has taken what was pushed. If it
// finds busy, the turn's last look (4), in the same lock, comes later and sees the push. If it
// finds `owner_` null, the turn writes `owner_` after that look, and takes `remote_` after it
// wrote: all four are sequentially consistent. Why mail of one pair stays in order: what came by
// `remote_` before is in `local_messages_` or taken before a local delivery appends behind it; and
// a turn takes `local_messages_` first, in the thread that alone adds to it. Why (6) is no
// exception. The owner's half of its lock needs no barrier of others, so what it does inside is as
// good as what a claim does. Only the turn changes `owner_` of one that is busy and in no queue, so
// the owner that was asked is the owner when it comes to it. From its null on, all mail comes by
// `remote_` and nobody sends a notice; the turn that waited finds null (the owner's word that it
// has been done carries it), makes itself the owner, and takes `remote_` after that, or looks at it
// at its end: the case of null above. A notice that is sent back is the same notice once more, and
// where another one was sent meanwhile, that one looks. The owner answers as soon as it gets on, as
// it does to any mail; a relief that was sent back is rung for (spare_worker.cpp).
//
// Tried and rejected: one word with exchange for each delivery and a compare-and-swap for each
// turn's end (as in Pony): two locked instructions a hop, about 10 ns of the 10 there are. An owner
// makes neighbours in a ring stay together, too. Tested by tests/unit/actors, explored by
// tests/sim/scenarios/actor.cpp.
#pragma once

#include "actors/runtime/mailbox_table.hpp"
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
    explicit mailbox(std::uint32_t slot) noexcept : runnable(&mailbox::run_queued), slot_(slot) {}
    mailbox(const mailbox&) = delete;

    // Nobody's, as a new one is, it is this runtime's from now on; and nobody's again. `affinity`:
    // of the only worker that may run it; 0: any. Who has an old address may be looking.
    void attach_to_runtime(runtime_core& runtime, worker& owner, std::uint16_t affinity) noexcept;
    void detach_from_runtime() noexcept;
    bool generations_exhausted() const noexcept; // its generations are

    // False: that is not for this worker's hand; nothing is done.
    bool try_put_in_lifo_slot(std::uint32_t generation, message_node& one, worker& me) noexcept;
    // Any thread.
    delivery accept(address to, message_node& one) noexcept;
    // Pairs with begin_incarnation: for who goes through all mailboxes, or has the address by a way
    // that orders nothing.
    std::uint32_t generation() const noexcept { return generation_.load_acq(); }
    // The same, and never older than what the caller has stored sequentially consistently: see
    // mailbox_capacity.cpp.
    bool ended(address incarnation) const noexcept {
        return generation_.load() != incarnation.generation;
    }
    address self() const noexcept {
        return {slot_, generation_.load_rlx()};
    } // orders nothing: own life
    // Whose turn runs: the life, or, once that has ended in this turn, that one still; never the
    // one to come. Own turn's.
    address batch_address() const noexcept {
        return {slot_, (generation_.load_rlx() - 1) | 1};
    } // orders nothing: own turn's
    // Of who lives, or is somebody's slot; null: nobody's.
    runtime_core& runtime() const noexcept { return *runtime_or_null(); }
    runtime_core* runtime_or_null() const noexcept {
        return runtime_.load_rlx();
    } // pairs with begin_incarnation: older
    bool is_alive() const noexcept { return generation() % 2 != 0; }
    bool bound() const noexcept { return wakeup_.bound; }

    // Before a life: the worker of this home shall be the owner. Left out when that cannot be had
    // at once.
    void set_initial_owner(std::uint16_t wanted) noexcept;
    // Who has just taken it from the table; what the life needs was written before.
    void begin_incarnation() noexcept {
        generation_.store_rel(generation_.load_rlx() + 1);
    } // pairs with generation
    // Before a life, and behind its beginning: mail that came when it was not there yet.
    void push_early_message(message_node& one) noexcept {
        one.generation = generation_.load_rlx() + 1; // owner: nobody else changes it
        push_remote(one);
    }
    void notify_of_early_messages() noexcept { notify_owner(); }
    // Inside its turn. Mail for the ended life goes to nobody. When the turn ends, and nothing is
    // left of that, the owner is told and the slot goes back to the table.
    void end_incarnation() noexcept;
    // Both pair with begin_incarnation: written before the life.
    bool has_room() const noexcept { return queued.load() < bounds.load_rlx() >> 2; } // as said
    when_full full() const noexcept {
        return static_cast<when_full>(bounds.load_rlx() & 3);
    } // as said
    // Counts one more in, if it may: `dead` means no. See when_full.
    delivery reserve_room(message_node& one) noexcept;
    // Of one that is not handled after all.
    void unreserve_room(message_node& one) noexcept {
        if (!one.counted) return;
        one.counted = false;
        (void)release_room();
    }
    // Taken from the table, but no life begins: whose address was given to others is nobody's from
    // then on.
    void skip_incarnation() noexcept {
        generation_.store(generation_.load_rlx() + 2);
    } // owner: nobody else changes it

    // The running activity has fiber_local values. If a turn runs here, they end with it.
    static void note_locals() noexcept;

    // Inside the lock of `victim`'s queue, by a thief or its owner: what its handler sent last goes
    // where its receiver finds it. True: that was idle, and lies in that queue now.
    static bool deliver_from_lifo_slot(worker& victim) noexcept;

    // It is the notice of one that is busy, which will look for its mail. A hint: that may have
    // come to an end. Inside the lock of the inbox where it lies.
    static bool is_stale_wakeup(runnable& item) noexcept;

private:
    friend class mailbox_table;
    friend class worker;
    friend void clear_owner(runnable& mailbox) noexcept;
    struct list {
        message_node* first = nullptr;
        message_node* last = nullptr;
        void append(message_node& one) noexcept {
            one.next = nullptr;
            (first ? last->next : first) = &one;
            last = &one;
        }
        bool begins_urgently() const noexcept { return first && first->urgent; }
        void prepend(message_node& one) noexcept {
            one.next = first;
            if (!first) last = &one;
            first = &one;
        }
        void append(list more) noexcept {
            if (!more.first) return;
            (first ? last->next : first) = more.first;
            last = more.last;
        }
    };
    struct wakeup : runnable {
        wakeup() noexcept : runnable(&mailbox::run_wakeup) {}
        bool owner_only = false;      // for this once only the owner may read it
        bool carries_mailbox = false; // it is on its way, busy: the reader begins a turn
        bool bound = false; // when it was made, to the worker of `affinity`; else that is what
                            // round_robin gave it
    };

    static void run_queued(runnable* self) noexcept;
    static mailbox& of(wakeup& mine) noexcept;
    static void run_wakeup(runnable* self) noexcept;
    bool deliver_as_owner(message_node& one, worker& me) noexcept;
    bool receive(message_node& one, worker& owner) noexcept;
    static void flush_lifo_slot(worker& me) noexcept;
    mailbox* take_next(worker& me, bool at_once, message_node*& given) noexcept;
    void deliver_as_other_worker(message_node& one, worker& me) noexcept;
    void deliver_remote(message_node& one) noexcept;
    void push_remote(message_node& one) noexcept;
    void notify_owner() noexcept;
    bool pull_to_this_worker(message_node& one, worker& me, worker& owner) noexcept;
    static void run_batches(mailbox& first) noexcept;
    static mailbox* run_hand_off_chain(mailbox* box, message_node* given, worker*& me,
                                       context& here, unsigned& left) noexcept;
    [[gnu::noinline, gnu::cold]] list end_locals(list rest) noexcept;
    void forget_locals() noexcept;
    void handle(message_node& one, std::uint32_t incarnation) noexcept;
    void handle_usual(message_node& one) noexcept;
    void handle_unusual(message_node& one, std::uint32_t incarnation) noexcept;
    bool is_usual(const message_node& one, std::uint32_t incarnation) const noexcept {
        return one.generation == incarnation && marks_ == 0;
    }
    bool ends_early(const message_node& one, std::uint32_t incarnation) const noexcept;
    list run_batch(worker*& me) noexcept;
    [[gnu::noinline]] list run_long_batch(list batch, worker*& me) noexcept;
    list take_all() noexcept;
    static unsigned extend_batch(bool more, std::int64_t& until) noexcept;
    [[gnu::noinline]] worker* reacquire_after_move() noexcept;
    mailbox* end_batch(list rest, worker& me, bool more, message_node*& given) noexcept;
    bool end_batch_locked(list rest, bool& retire) noexcept;
    bool reschedule_behind(mailbox& receiver, list rest, worker& me) noexcept;
    void run_batches_and_migrate(worker& me) noexcept;
    void migrate_to_sender(worker& me) noexcept;
    [[gnu::noinline, gnu::cold]] void retire_slot() noexcept;
    bool acquire_ownership(worker& me) noexcept;
    [[gnu::noinline]] bool acquire_ownership_slow(worker& me) noexcept;
    struct ownership_request;
    bool try_activate_here(worker& me) noexcept;
    [[gnu::noinline, gnu::cold]] void return_wakeup_to_owner(worker& owner) noexcept;
    bool runs_on(const worker& one) const noexcept;
    void bind_batch(context& here, const worker& me) const noexcept;
    static bool is_for_next_incarnation(const message_node& one,
                                        std::uint32_t incarnation) noexcept;
    bool release_room() noexcept;
    [[gnu::noinline, gnu::cold]] void wake_senders() noexcept;
    // Inside the owner's lock.
    bool idle() const noexcept { return !busy_.load_rlx(); } // under the lock
    // Its turn may begin with what `me` has in hand for it: nothing else has come.
    bool may_begin_with_it(worker& me) const noexcept {
        return owner_.load_rlx() == &me && idle() && !remote_.load(); // under the lock
    }
    // True: it was idle.
    bool becomes_busy() noexcept {
        if (!idle()) return false;
        busy_.store_rlx(true); // under the lock
        return true;
    }
    [[gnu::noinline]] void take_remote(list& into) noexcept;
    // Into `local_messages_`.
    void enqueue(message_node& one) noexcept {
        if (one.urgent) [[unlikely]]
            overtake(local_messages_, {&one, &one});
        else
            local_messages_.append(one);
    }
    [[gnu::noinline]] void overtake(list& into, list urgent) noexcept;
    [[gnu::noinline]] list left_over(list rest, message_node* last_urgent) noexcept;
    [[gnu::noinline, gnu::cold]] void reject(message_node& one, delivery why) noexcept;

    // A hop between two mailboxes of one worker touches the first two lines. The first is the
    // turn's: here is all that each piece changes. (The first two lie in what the runnable leaves
    // of its last word.)
    base::atomic<bool> busy_{false};
    // Its turn's: the life has ended, and the slot goes back when the turn ends; it outruns a
    // receiver, and ends early; its handlers have made fiber_local values.
    enum mark : std::uint8_t { retired = 1, floods_receiver = 2, has_locals = 4 };
    std::uint8_t marks_ = 0;

public:
    base::byte_lock cold_state_lock; // the model's: guards what `cold_state` leads to

private:
    list local_messages_;

public:
    base::atomic<std::uint64_t> handled{0}; // pieces, in this life; its turn writes

private:
    // The second is the senders': a turn looks here once for many pieces.
    alignas(base::cache_line) base::atomic<message_node*> remote_{nullptr};
    base::atomic<std::uint32_t> generation_{0}; // odd: alive
    const std::uint32_t slot_;
    base::atomic<worker*> owner_{nullptr};

public:
    void* object = nullptr; // the model's, for one life
    // Bounded mail: how many pieces there may be and, in the lowest two bits, when_full; and pieces
    // not yet handled. 0: no bound. Who counts one in counts it out, whichever life that is in: the
    // count is never set. So what came too late for the last life takes of this one's room, until a
    // turn has returned it.
    base::atomic<std::uint32_t> bounds{0};
    base::atomic<std::uint32_t> queued{0};
    base::atomic<std::uint8_t> senders_waiting{0}; // senders wait for room
    std::uint8_t shard = 0;

private:
    base::atomic<std::uint8_t> wakeup_pending_{0};
    base::atomic<std::uint8_t> last_remote_sender_{
        0}; // home of the worker that sent last from afar, a hint; 0: not known
    base::atomic<std::uint32_t> remote_takes_{
        0}; // how often mail from afar was taken; who may touch `local_messages_` writes
    base::atomic<runtime_core*> runtime_{nullptr};

public:
    void* cold_state = nullptr; // the model's, for one life; as the next two, and `shard`

private:
    // The third is for what is seldom.
    alignas(base::cache_line) wakeup wakeup_;
    message_node* last_urgent_ =
        nullptr; // see mailbox_urgent.cpp; who may touch `local_messages_` writes

public:
    base::atomic<incarnation_owner*> group{nullptr};
    base::atomic<std::uint64_t> asks{
        0}; // whom the handler waits for: an address as one word, 0: nobody
};

static_assert(sizeof(runnable) == 40);
static_assert(sizeof(mailbox) <= 192);

// The model's: takes mail for one whose life is about to begin; false: there is none. Set before
// anybody can have the address of such a one.
using early_message_store = bool (*)(message_node& early) noexcept;
void set_early_message_store(early_message_store how) noexcept;

inline mailbox* mailbox_table::find(std::uint32_t slot) noexcept {
    // Orders nothing: slots are made after their chunk is entered, which stays, so it is the
    // address that must come with the knowledge of the slot; what a life began with comes with
    // `generation`.
    mailbox* chunk = directory[slot >> chunk_bits].load_rlx();
    return chunk ? chunk + (slot & (chunk_size - 1)) : nullptr;
}

} // namespace sennit::sched
