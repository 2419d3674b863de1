// SPDX-License-Identifier: Apache-2.0
// The run queue of a worker: woken and yielded runnables, oldest first, and spawned runnables,
// newest first. Thieves get the oldest.
//
// Why two orders. Arrival order is fair to contexts that wait for each other. Newest first keeps
// new work depth-first: a tree of a million fibers needs as many stacks as the tree is deep, and
// caches stay warm.
//
// Choice between the two. After a context blocks, the worker continues the oldest ready runnable
// (`pop_woken_if`): that runnable has a stack already, and new work would need another. After a
// runnable ends, `pop` takes the newest spawned runnable if it was spawned after both the oldest
// ready one and the most recently woken one had begun. (It is then usually their child.) Otherwise
// `pop` takes the oldest ready one. A parent that waits for ten children that do not block
// therefore continues once, after all have run, and not after each; and it continues before its own
// elder siblings begin. A comparison with the oldest ready one alone is not enough: a ready
// grandparent stands before the parents, and everything that the parents spawn is newer than the
// grandparent.
//
// Why the number of stacks stays small. New work stays new work at a thief (`append_batch`). It
// goes behind all new work that the thief has of its own, so the thief is depth-first, too. New
// work that a worker shares lies in a separate list of the injector, which workers read last
// (shared_queue.hpp). src/core/README.md, "How many stacks", has the argument.
//
// Why neither kind starves. Global polls take one of either kind, alternately (`pop_alternating`):
// the oldest ready one; then the newest new one, or the oldest new one if the coarse clock has
// ticked since the last time. A context that yields is followed by the oldest ready one, and by the
// newest new one if nothing is ready. src/core/README.md, "What begins and when", states the
// bounds.
//
// Which thread touches which state. The worker pushes and pops under its half of a biased lock: no
// locked instruction, no fence. It moves half of its tasks to the injector when a thief sends a
// request (worker::share_half). Only if the worker does not answer does a thief enter by the other
// half of the lock (`steal_half`). Any thread may read `size` at any time.
//
// `size` is one side of the parking protocol (src/core/README.md). A push is visible to a worker
// that looks after a barrier that follows the push. A push that is not visible sees the
// announcement made before that barrier. `size` is only a number and publishes nothing: a thread
// that takes runnables acquires them by the lock. Where there is a membarrier, its stores are
// therefore relaxed.
#pragma once

#include "core/queues/biased_lock.hpp"
#include "core/queues/lifo_slot.hpp"
#include "sennit/detail/base/cache_line.hpp"
#include "sennit/detail/base/intrusive_queue.hpp"
#include "sennit/detail/core/runnable.hpp"
#include "sys/mutant.hpp"

#include <cstdint>
#include <utility>

namespace sennit::sched {

void clear_owner(runnable& mailbox) noexcept; // src/actors/runtime/mailbox.cpp

class alignas(base::destructive_distance) run_queue {
public:
    using list = base::intrusive_queue<runnable>;
    // Runnables on their way to another queue: both kinds, oldest first, and their number.
    struct batch {
        list woken;
        list spawned;
        std::uint32_t count = 0;
    };

    // ---- the owner. Each push returns the number of runnables in the queue after the push.
    std::uint32_t push_woken(runnable& item) noexcept {
        owner_guard inside(lock_);
        woken_.push_back(item);
        return add(1);
    }
    // Puts `item` at the front: it ran before them and found nothing to wait for, or another
    // task waits for it alone.
    std::uint32_t push_woken_first(runnable& item) noexcept {
        owner_guard inside(lock_);
        woken_.push_front(item);
        return add(1);
    }
    std::uint32_t push_spawned(runnable& item) noexcept {
        owner_guard inside(lock_);
        item.order = next_order_++;
        spawned_.push_back(item);
        return add(1);
    }
    // Appends a stolen batch: ready ones behind all that is ready here, new ones behind all that is
    // new here.
    std::uint32_t append_batch(batch& stolen) noexcept {
        owner_guard inside(lock_);
        woken_.append(stolen.woken);
        if (!SENNIT_MUTANT("new work stays new at a thief")) {
            stolen.spawned.append(spawned_);
            spawned_.append(stolen.spawned);
        } else {
            woken_.append(stolen.spawned);
        }
        return add(std::exchange(stolen.count, 0));
    }

    // Calls `wanted` inside the lock. If it returns true, `item` goes to the end. Returns
    // the number of runnables in the queue, or zero if `item` did not go in.
    template <class F>
    std::uint32_t push_woken_if(runnable& item, F&& wanted) noexcept {
        owner_guard inside(lock_);
        if (!wanted()) return 0;
        woken_.push_back(item);
        return add(1);
    }
    template <class F>
    std::uint32_t push_spawned_if(runnable& item, F&& wanted) noexcept {
        owner_guard inside(lock_);
        if (!wanted()) return 0;
        item.order = next_order_++;
        spawned_.push_back(item);
        return add(1);
    }

    // Ends a batch. Calls `again` inside the lock; if it returns true, `item` goes to the end.
    // Before that, `take_slot` may supply `next`; its argument tells whether the queue was empty
    // before `item`. If it supplies none, the next runnable is popped into `next` if its function
    // is `run`. Returns the number of runnables that are left.
    template <class F, class H>
    std::uint32_t end_and_pop(runnable& item, F&& again, H&& take_slot,
                              void (*run)(runnable*) noexcept, runnable*& next) noexcept {
        owner_guard section(lock_);
        const bool slot_is_next = size_.load_rlx() == 0; // Owner's own word.
        next = take_slot(slot_is_next);
        if (again()) {
            woken_.push_back(item);
            add(1);
        }
        if (next) return size_.load_rlx(); // Owner's own word.
        const bool ready = woken_goes_first();
        runnable* first = ready ? woken_.front() : spawned_.back();
        if (first && first->run == run) {
            next = ready ? woken_.pop_front() : spawned_.pop_back();
            took(1);
        }
        return size_.load_rlx(); // Owner's own word.
    }
    // Inside the lock. Puts `item` at the end, among the spawned or the woken ones.
    void push_inside(runnable& item, bool spawned) noexcept {
        if (spawned) item.order = next_order_++;
        (spawned ? spawned_ : woken_).push_back(item);
        add(1);
    }
    // Runs `change` under the owner's half of the lock, for other state that the lock guards.
    template <class F>
    void inside(F&& change) noexcept {
        owner_guard section(lock_);
        change();
    }

    // Removes and returns the next runnable to run; null if there is none.
    runnable* pop() noexcept {
        if (size() == 0) return nullptr;
        owner_guard inside(lock_);
        runnable* item = woken_goes_first() ? woken_.pop_front() : spawned_.pop_back();
        if (item) took(1);
        return item;
    }
    // Takes one of each kind alternately: the oldest ready one; then the newest new one, or the
    // oldest new one if `oldest` returns true. `oldest` is called only where there is a new one. If
    // only one kind is present, takes one of that kind.
    template <class F>
    runnable* pop_alternating(F&& oldest) noexcept {
        if (size() == 0) return nullptr;
        owner_guard inside(lock_);
        const bool may_begin = !spawned_.empty() && !SENNIT_MUTANT("a global poll begins new work");
        const bool may_continue =
            !woken_.empty() && !SENNIT_MUTANT("a global poll continues woken work");
        spawned_is_next_ = may_begin && (!may_continue || !spawned_is_next_);
        runnable* item = !spawned_is_next_ ? woken_.pop_front()
                         : oldest()        ? spawned_.pop_front()
                                           : spawned_.pop_back();
        if (item) took(1);
        return item;
    }
    // The order number of the next spawn: every later spawn is newer than a runnable that begins
    // now.
    std::uint64_t present() const noexcept { return next_order_; }
    // Removes and returns the oldest ready one if its function is `run`; null otherwise.
    runnable* pop_woken_if(void (*run)(runnable*) noexcept) noexcept {
        owner_guard inside(lock_);
        runnable* item = woken_.front();
        if (!item || item->run != run) return nullptr;
        if (SENNIT_MUTANT("a context that blocks is followed by what is ready") &&
            !woken_goes_first())
            return nullptr;
        woken_.pop_front();
        took(1);
        return item;
    }
    // Removes `item` if it is the newest spawned one. True: the caller owns it.
    bool pop_newest_if(const runnable& item) noexcept {
        owner_guard inside(lock_);
        if (spawned_.back() != &item) return false;
        spawned_.pop_back();
        took(1);
        return true;
    }
    // For a context that is about to yield. If nothing is ready, the newest spawned one becomes
    // ready and goes first.
    void promote_newest_if_none_is_woken() noexcept {
        owner_guard inside(lock_);
        runnable* item = woken_.empty() ? spawned_.pop_back() : nullptr;
        if (!item) return;
        item->order = began_elsewhere; // No newer runnable goes before it.
        woken_.push_back(*item);
    }
    // Removes the oldest ready one if its function is `run`, in exchange for `self`, which is saved
    // and goes to the end. Null: nothing has changed.
    runnable* exchange(runnable& self, void (*run)(runnable*) noexcept) noexcept {
        owner_guard inside(lock_);
        runnable* item = woken_.front();
        if (!item || item->run != run) return nullptr;
        return &woken_.exchange_front(self);
    }
    // Removes the oldest ready one if its function is `run`, in exchange for `self`, which goes to
    // the end. The caller stays inside the lock, switches to the result, and leaves the lock on the
    // other side: thieves must not find `self` before it is saved.
    runnable* begin_exchange(runnable& self, void (*run)(runnable*) noexcept) noexcept {
        lock_.enter();
        runnable* item = woken_.front();
        if (!item || item->run != run) {
            lock_.leave();
            return nullptr;
        }
        return &woken_.exchange_front(self);
    }
    void end_exchange() noexcept { lock_.leave(); } // Harmless outside an exchange.

    // Moves the older half to `out`, but keeps at least one. Returns the number moved.
    std::uint32_t take_half(batch& out) noexcept {
        owner_guard inside(lock_);
        return take(size() / 2, out);
    }

    // Moves the oldest spawned runnables to `out`, at most half as many as there are runnables.
    // Returns the number moved.
    std::uint32_t take_new_half(batch& out) noexcept {
        owner_guard inside(lock_);
        return take(size() / 2, out, kind::spawned);
    }

    // The oldest of the spawned runnables; null if there is none. The runnable may disappear
    // immediately after the call.
    const runnable* oldest_spawned() noexcept {
        owner_guard inside(lock_);
        return spawned_.front();
    }

    // Moves everything to `out`. Returns the number moved.
    std::uint32_t take_all(batch& out) noexcept {
        owner_guard inside(lock_);
        return take(size(), out);
    }

    // ---- any other thread
    //
    // Moves the older half to `out`, at least one. Returns the number moved: zero if the queue is
    // empty or the lock is refused. `first` is called inside the lock before that, and may push.
    template <class F>
    std::uint32_t steal_half(batch& out, F&& first) noexcept {
        if (in_sight() == 0 || !lock_.try_lock_remote()) return 0;
        first();
        const std::uint32_t count = take((size() + 1) / 2, out);
        lock_.unlock_remote();
        return count;
    }

    // Moves all woken runnables to `out` likewise. Sets `out.count` to the number moved.
    template <class F>
    void steal_woken(batch& out, F&& first) noexcept {
        if (in_sight() == 0 || !lock_.try_lock_remote()) return;
        first();
        take(size(), out, kind::woken);
        lock_.unlock_remote();
    }

    // Calls `change` inside the remote half of the lock, for other state that the lock guards, if
    // the lock is granted.
    template <class F>
    biased_lock::remote_lock_result with_remote_lock(F&& change) noexcept {
        const biased_lock::remote_lock_result let = lock_.try_lock_remote();
        if (!let) return let;
        change();
        lock_.unlock_remote();
        return let;
    }

    std::uint32_t steal_half(batch& out) noexcept {
        return steal_half(out, [] {});
    }

    // ---- any thread
    //
    // The size, plus one for a message in the owner's LIFO slot.
    std::uint32_t in_sight() const noexcept { return size() + (lifo.holds_some() ? 1 : 0); }
    std::uint32_t size() const noexcept { return size_.load(); }
    bool empty() const noexcept { return size() == 0; }

    lifo_slot lifo; // The LIFO slot; lifo_slot.hpp states the rights of each thread.

    // True if a theft from this queue would need no barrier now: a hint.
    bool is_contended() const noexcept { return lock_.is_contended(); }

    bool always_contended() const noexcept { return lock_.always_contended(); }

private:
    std::uint32_t add(std::uint32_t count) noexcept {
        // Orders nothing: the thread inside the lock is the only writer.
        const std::uint32_t now = size_.load_rlx() + count;
        if (lock_.always_contended())
            size_.store(now);
        else
            size_.store_rlx(now); // size() sees it behind the parking worker's barrier.
        return now;
    }
    void took(std::uint32_t count) noexcept {
        // Orders nothing: the lock carries the removed runnables.
        size_.store_rlx(size_.load_rlx() - count);
    }
    enum class kind { both, woken, spawned };
    std::uint32_t take(std::uint32_t count, batch& out, kind which = kind::both) noexcept {
        std::uint32_t taken = 0;
        for (; taken < count; ++taken) {
            const bool ready = which == kind::woken || (which == kind::both && !woken_.empty());
            runnable* item = ready ? woken_.pop_front() : spawned_.pop_front();
            if (!item) break;
            // The number belonged to this queue.
            item->order = ready ? began_elsewhere : never_spawned_here;
            if (item->owned) [[unlikely]]
                clear_owner(*item);
            (ready ? out.woken : out.spawned).push_back(*item);
        }
        out.count = taken;
        if (taken != 0) took(taken);
        return taken;
    }

    bool woken_goes_first() const noexcept {
        const runnable* oldest = woken_.front();
        const runnable* newest = spawned_.back();
        if (!oldest || !newest) return oldest != nullptr;
        const bool before_woken =
            newest->order < woken_.back()->order && !SENNIT_MUTANT("new work waits for the woken");
        return before_woken || newest->order < oldest->order;
    }

    friend class snapshot;
    biased_lock lock_;
    list woken_;
    list spawned_;
    // Order numbers that do not come from `next_order_`.
    // Older than every runnable that began here.
    static constexpr std::uint64_t never_spawned_here = 0;
    // Newer than every runnable that was spawned here.
    static constexpr std::uint64_t began_elsewhere = UINT64_MAX;
    std::uint64_t next_order_ = 1; // The number of the next spawn; the owner's.
    bool spawned_is_next_ = false; // True if the last global poll began new work; the owner's.
    base::atomic<std::uint32_t> size_{0};
};

} // namespace sennit::sched
