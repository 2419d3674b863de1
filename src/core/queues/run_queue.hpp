// SPDX-License-Identifier: Apache-2.0
// A worker's own queue of runnables: what was woken or yielded there, oldest first; what was
// spawned there, newest first. Thieves get the oldest.
//
// Why two orders. Arrival order is fair to contexts that wait for each other; newest first keeps
// new work depth-first, so that a tree of a million fibers needs as many stacks as it is deep, and
// caches stay warm.
//
// Between the two. A context that blocks is followed by what is ready (`pop_woken_if`): that has a
// stack already, and new work would need one more. A runnable that ends is followed by the newest
// new one, if that was spawned after both the oldest ready one and the one that was woken last had
// begun (it is their child, as a rule); else by the oldest ready one (`pop`). So a parent that
// waits for ten children that do not block continues once, when all have run, and not after each;
// and it continues before its own elder siblings begin. The oldest ready one alone does not tell:
// where a grandparent is ready, it stands before the parents, and all that these spawn is newer
// than it.
//
// What keeps the number of stacks small. New work stays new work at a thief (`append_batch`): it
// goes behind all that the thief has of its own, so the thief is depth-first, too. What a worker
// gives away lies in a list of its own in the shared queue, which is looked at last
// (shared_queue.hpp). src/core/README.md, "How many stacks", has the argument.
//
// What keeps both kinds from starving. Each fair turn takes one of either kind, in turn
// (`pop_alternating`): the oldest ready one; then the newest new one, or the oldest new one where a
// tick of the coarse clock has passed since the last time. A context that yields is followed by the
// oldest ready one, and by the newest new one where nothing is ready. src/core/README.md, "What
// begins and when", states the bounds.
//
// Who touches what. The worker pushes and pops, under its half of a biased_lock: no locked
// instruction, no fence. It gives half of what it has to the shared queue when a thief asks
// (worker::share_half). Only where it does not answer does a thief come in by the other half of the
// lock (`steal_half`). `size` may be read by anybody at any time.
//
// `size` is one side of the idle protocol (src/core/README.md): a push is visible to whoever looks
// behind a barrier that comes after it, and a push that is not sees what was announced before that
// barrier. It says how many there are and carries nothing: whoever comes for them comes by the
// lock. So where there is a membarrier its stores are relaxed.
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
    // What goes to another queue: both kinds, oldest first, and how many.
    struct batch {
        list woken;
        list spawned;
        std::uint32_t count = 0;
    };

    // ---- the owner. Pushes return how many runnables are there now.
    std::uint32_t push_woken(runnable& item) noexcept {
        owner_guard inside(lock_);
        woken_.push_back(item);
        return add(1);
    }
    // Before all others: it was here first and found nothing to wait for, or somebody waits for
    // just this one.
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
    // What was stolen: ready ones go behind all that is ready here, new ones behind all that is
    // new.
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

    // Calls `wanted` inside; if that says so, `item` goes behind all others.
    // Returns how many runnables are there then, zero when it did not go in.
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

    // The end of a turn: `item` goes behind all others if `again` says so, which is called inside.
    // Then `take_slot` may give `next`, if it is told that nothing was ready before `item`; else
    // `pop` does, if `run` is its function. Returns how many runnables are left.
    template <class F, class H>
    std::uint32_t end_and_pop(runnable& item, F&& again, H&& take_slot,
                              void (*run)(runnable*) noexcept, runnable*& next) noexcept {
        owner_guard section(lock_);
        const bool slot_is_next = size_.load_rlx() == 0; // the owner's own
        next = take_slot(slot_is_next);
        if (again()) {
            woken_.push_back(item);
            add(1);
        }
        if (next) return size_.load_rlx(); // the owner's own
        const bool ready = woken_goes_first();
        runnable* first = ready ? woken_.front() : spawned_.back();
        if (first && first->run == run) {
            next = ready ? woken_.pop_front() : spawned_.pop_back();
            took(1);
        }
        return size_.load_rlx(); // the owner's own
    }
    // Inside the lock: `item` goes behind all others, as what was woken or what was spawned.
    void push_inside(runnable& item, bool spawned) noexcept {
        if (spawned) item.order = next_order_++;
        (spawned ? spawned_ : woken_).push_back(item);
        add(1);
    }
    // For what else the owner's lock guards.
    template <class F>
    void inside(F&& change) noexcept {
        owner_guard section(lock_);
        change();
    }

    // The next one to run; null when there is none.
    runnable* pop() noexcept {
        if (size() == 0) return nullptr;
        owner_guard inside(lock_);
        runnable* item = woken_goes_first() ? woken_.pop_front() : spawned_.pop_back();
        if (item) took(1);
        return item;
    }
    // One of each kind in turn: the oldest ready one; the newest new one, or the oldest new one if
    // `oldest` says so, which is asked where there is one. Where there is only one kind, one of
    // that.
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
    // What is spawned from now on is newer than who begins now.
    std::uint64_t present() const noexcept { return next_order_; }
    // The oldest ready one if `run` is its function.
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
    // True when `item` was the newest spawned one; it is the caller's then.
    bool pop_newest_if(const runnable& item) noexcept {
        owner_guard inside(lock_);
        if (spawned_.back() != &item) return false;
        spawned_.pop_back();
        took(1);
        return true;
    }
    // For a context that is about to yield: where nothing is ready, the newest spawned one becomes
    // so, and goes first.
    void promote_newest_if_none_is_woken() noexcept {
        owner_guard inside(lock_);
        runnable* item = woken_.empty() ? spawned_.pop_back() : nullptr;
        if (!item) return;
        item->order = began_elsewhere; // nothing goes before it for being newer
        woken_.push_back(*item);
    }
    // The oldest ready one, if `run` is its function, in exchange for `self`, which goes to the
    // end. The caller stays inside the lock, switches to it, and leaves the lock on the other side:
    // thieves shall not find `self` before it is saved.
    runnable* begin_exchange(runnable& self, void (*run)(runnable*) noexcept) noexcept {
        lock_.enter();
        runnable* item = woken_.front();
        if (!item || item->run != run) {
            lock_.leave();
            return nullptr;
        }
        return &woken_.exchange_front(self);
    }
    void end_exchange() noexcept { lock_.leave(); } // harmless outside one

    // Moves the older half to `out`, but keeps one at least; returns how many went.
    std::uint32_t take_half(batch& out) noexcept {
        owner_guard inside(lock_);
        return take(size() / 2, out);
    }

    // Of those that were spawned; null: there is none. It may be gone at once.
    const runnable* oldest_spawned() noexcept {
        owner_guard inside(lock_);
        return spawned_.front();
    }

    // Moves everything to `out`; returns how many.
    std::uint32_t take_all(batch& out) noexcept {
        owner_guard inside(lock_);
        return take(size(), out);
    }

    // ---- any other thread
    // Moves the older half to `out`, one at least; returns how many, zero when the queue is empty
    // or nobody is let in. `first` is called inside before that: it may push.
    template <class F>
    std::uint32_t steal_half(batch& out, F&& first) noexcept {
        if (in_sight() == 0 || !lock_.try_lock_remote()) return 0;
        first();
        const std::uint32_t count = take((size() + 1) / 2, out);
        lock_.unlock_remote();
        return count;
    }

    // Calls `change` inside, for what else the lock guards, if that lets in.
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

    // ---- anybody
    // With what lies in the owner's hand.
    std::uint32_t in_sight() const noexcept { return size() + (lifo.holds_some() ? 1 : 0); }
    std::uint32_t size() const noexcept { return size_.load(); }
    bool empty() const noexcept { return size() == 0; }

    lifo_slot lifo; // who may do what: lifo_slot.hpp

    // Whoever takes something here makes no barrier for it: a hint.
    bool is_contended() const noexcept { return lock_.is_contended(); }

    bool always_contended() const noexcept { return lock_.always_contended(); }

private:
    std::uint32_t add(std::uint32_t count) noexcept {
        const std::uint32_t now =
            size_.load_rlx() + count; // orders nothing: whoever is inside is the only writer
        if (lock_.always_contended())
            size_.store(now);
        else
            size_.store_rlx(now); // size() sees it behind the sleeper's barrier
        return now;
    }
    void took(std::uint32_t count) noexcept {
        size_.store_rlx(size_.load_rlx() -
                        count); // orders nothing: the lock carries what was taken
    }
    std::uint32_t take(std::uint32_t count, batch& out) noexcept {
        std::uint32_t taken = 0;
        for (; taken < count; ++taken) {
            const bool ready = !woken_.empty();
            runnable* item = ready ? woken_.pop_front() : spawned_.pop_front();
            if (!item) break;
            item->order =
                ready ? began_elsewhere : never_spawned_here; // the number was this queue's
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
    // Numbers of runnables that do not come from `next_order_`.
    static constexpr std::uint64_t never_spawned_here = 0; // older than all that began here
    static constexpr std::uint64_t began_elsewhere =
        UINT64_MAX;                // newer than all that was spawned here
    std::uint64_t next_order_ = 1; // of what is spawned; the owner's
    bool spawned_is_next_ = false; // the last fair turn began new work; the owner's
    base::atomic<std::uint32_t> size_{0};
};

} // namespace sennit::sched
