// SPDX-License-Identifier: Apache-2.0
// The run queue of a worker: woken runnables and yielded runnables, oldest first, and spawned
// runnables, newest first. A woken or yielded runnable is **ready**; a spawned one is **new**.
// Thieves and other workers get the oldest of each kind.
//
// Why several orders. Arrival order is fair to contexts that wait for each other. Newest first
// keeps new work depth-first: a tree of a million fibers needs as many stacks as the tree is deep,
// and caches stay warm. A context that yields has more to compute, and the context that was woken
// meanwhile is often needed for a moment only, so woken runnables go before yielded ones.
//
// Choice between woken and new. After a context blocks, the worker continues the oldest woken
// runnable (`pop_ready_if`): that runnable has a stack already, and new work would need another.
// After a runnable ends, `pop` takes the newest spawned runnable if it was spawned after both the
// oldest woken one and the most recently woken one had begun. (It is then usually their child.)
// Otherwise `pop` takes the oldest woken one. A parent that waits for ten children that do not
// block therefore continues once, after all have run, and not after each; and it continues before
// its own elder siblings begin. A comparison with the oldest one alone is not enough: a woken
// grandparent stands before the parents, and everything that the parents spawn is newer than the
// grandparent.
//
// Choice between yielded and new, where none is woken. A new one begins first while fewer than
// `tuning::yielded_before_new` yielded ones wait: a short task does not wait for each of the few
// long ones that share the worker. Otherwise a yielded one continues: in a tree whose leaves yield,
// each new leaf would need a stack. If a runnable has ended and the newest spawned one is younger
// than the yielded ones, the rule above holds for these, too.
//
// Why the number of stacks stays small. New work stays new work at a thief (`append_batch`). It
// goes behind all new work that the thief has of its own, so the thief is depth-first, too. New
// work that a worker shares lies in a separate list of the injector, which workers read last
// (shared_queue.hpp). src/core/README.md, "How many stacks", has the argument.
//
// Why no kind starves. Global polls take one of each kind by turns (`pop_alternating`). The woken
// or yielded one is the oldest. The new one is the newest, or the oldest if the coarse clock has
// ticked since the last time. The yielded ones lose their turn if one of them has continued since
// the last global poll. src/core/README.md, "What begins and when", states the bounds.
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

#include "core/policy/tuning.hpp"
#include "core/queues/biased_lock.hpp"
#include "core/queues/lifo_slot.hpp"
#include "sennit/detail/base/cache_line.hpp"
#include "sennit/detail/base/intrusive_queue.hpp"
#include "sennit/detail/core/runnable.hpp"
#include "sys/mutant.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <utility>

namespace sennit::sched {

void clear_owner(runnable& mailbox) noexcept; // src/actors/runtime/mailbox.cpp

class alignas(base::destructive_distance) run_queue {
public:
    using list = base::intrusive_queue<runnable>;
    enum class kind { woken, yielded, spawned };
    // Runnables on their way to another queue: each kind, oldest first, and their number.
    struct batch {
        list woken, yielded, spawned;
        std::uint32_t count = 0, yielded_count = 0;

        // The caller sets `count`.
        void push_back(runnable& item, kind which) noexcept {
            if (which == kind::yielded) ++yielded_count;
            (which == kind::woken     ? woken
             : which == kind::yielded ? yielded
                                      : spawned)
                .push_back(item);
        }
        // Removes and returns the first runnable, woken ones first; null if none is left.
        runnable* pop() noexcept {
            if (count == 0) return nullptr;
            --count;
            if (!woken.empty()) return woken.pop_front();
            if (yielded.empty()) return spawned.pop_front();
            --yielded_count;
            return yielded.pop_front();
        }
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
    // Puts `item` behind all ready ones.
    std::uint32_t push_yielded(runnable& item) noexcept {
        owner_guard inside(lock_);
        link_yielded(item);
        return add(1);
    }
    std::uint32_t push_spawned(runnable& item) noexcept {
        owner_guard inside(lock_);
        item.order = next_order_++;
        spawned_.push_back(item);
        return add(1);
    }
    // Appends a stolen batch: ready ones behind those of their kind, new ones behind all that is
    // new here.
    std::uint32_t append_batch(batch& stolen) noexcept {
        owner_guard inside(lock_);
        woken_.append(stolen.woken);
        yielded_.append(stolen.yielded);
        yielded_count_ += std::exchange(stolen.yielded_count, 0);
        if (!SENNIT_MUTANT("new work stays new at a thief")) {
            stolen.spawned.append(spawned_);
            spawned_.append(stolen.spawned);
        } else {
            woken_.append(stolen.spawned);
        }
        return add(std::exchange(stolen.count, 0));
    }

    // Call `wanted` inside the lock. If it returns true, `item` goes in as its kind does. Return
    // the number of runnables in the queue, or zero if `item` did not go in.
    template <class F>
    std::uint32_t push_woken_if(runnable& item, F&& wanted) noexcept {
        owner_guard inside(lock_);
        if (!wanted()) return 0;
        woken_.push_back(item);
        return add(1);
    }
    template <class F>
    std::uint32_t push_yielded_if(runnable& item, F&& wanted) noexcept {
        owner_guard inside(lock_);
        if (!wanted()) return 0;
        link_yielded(item);
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

    // Ends a batch. Calls `again` inside the lock; if it returns true, `item` goes behind all ready
    // ones, as a runnable that yields does.
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
            link_yielded(item);
            add(1);
        }
        if (next) return size_.load_rlx(); // Owner's own word.
        const kind first = first_kind();
        if (runnable* const one = peek(first); one && one->run == run) {
            next = one;
            remove(first);
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
        const kind first = first_kind();
        runnable* const item = peek(first);
        if (item) remove(first);
        return item;
    }
    // For a global poll: takes one of each kind by turns, as far as they are present. The oldest
    // woken one; the newest new one, or the oldest new one if `oldest` returns true; the oldest
    // yielded one, unless one of these has continued since the last call. `oldest` is called only
    // where there is a new one.
    template <class F>
    runnable* pop_alternating(F&& oldest) noexcept {
        if (size() == 0) return nullptr;
        owner_guard inside(lock_);
        const bool yielded_waits = !std::exchange(yielded_continued_, false);
        for (int tries = 0; tries < 3; ++tries) {
            switch (next_turn_) {
            case kind::spawned:
                next_turn_ = kind::woken;
                if (spawned_.empty() || SENNIT_MUTANT("a global poll begins new work")) break;
                took(1);
                return oldest() ? spawned_.pop_front() : spawned_.pop_back();
            case kind::woken:
                next_turn_ = kind::yielded;
                if (woken_.empty() || SENNIT_MUTANT("a global poll continues woken work")) break;
                took(1);
                return woken_.pop_front();
            case kind::yielded:
                next_turn_ = kind::spawned;
                if (yielded_.empty() || !yielded_waits ||
                    SENNIT_MUTANT("a global poll continues yielded work"))
                    break;
                return pop_yielded();
            }
        }
        return nullptr;
    }
    // The order number of the next spawn: every later spawn is newer than a runnable that begins
    // now.
    std::uint64_t present() const noexcept { return next_order_; }
    // For a context that blocks. Removes and returns the oldest ready one if its function is `run`.
    // Null if there is none, if its function differs, or if a new one goes before the yielded ones.
    runnable* pop_ready_if(void (*run)(runnable*) noexcept) noexcept {
        owner_guard inside(lock_);
        if (runnable* const item = woken_.front()) [[likely]] {
            if (item->run != run) return nullptr;
            if (SENNIT_MUTANT("a context that blocks is followed by what is ready") &&
                first_kind() == kind::spawned)
                return nullptr;
            woken_.pop_front();
            took(1);
            return item;
        }
        runnable* const item = yielded_.front();
        if (!item || item->run != run || new_goes_before_yielded()) return nullptr;
        return pop_yielded();
    }
    // Removes `item` if it is the newest spawned one. True: the caller owns it.
    bool pop_newest_if(const runnable& item) noexcept {
        owner_guard inside(lock_);
        if (spawned_.back() != &item) return false;
        spawned_.pop_back();
        took(1);
        return true;
    }
    // For a context that is about to yield. If the newest spawned one goes before all ready ones,
    // it becomes woken.
    void promote_newest_if_it_is_next() noexcept {
        owner_guard inside(lock_);
        if (!woken_.empty() || !new_goes_before_yielded()) return;
        runnable* const item = spawned_.pop_back();
        item->order = began_elsewhere; // No newer runnable goes before it.
        woken_.push_back(*item);
    }
    // For a context or task that yields. Removes the oldest ready one if its function is `run`, in
    // exchange for `self`, which is saved and goes behind all ready ones. Null: nothing has
    // changed, as another kind of runnable is next.
    runnable* exchange(runnable& self, void (*run)(runnable*) noexcept) noexcept {
        owner_guard inside(lock_);
        return exchange_inside(self, run);
    }
    // Like `exchange`, for a `self` that is not saved yet: the caller stays inside the lock,
    // switches to the result, and leaves the lock on the other side. Thieves must not find `self`
    // before it is saved.
    runnable* begin_exchange(runnable& self, void (*run)(runnable*) noexcept) noexcept {
        lock_.enter();
        runnable* const item = exchange_inside(self, run);
        if (!item) lock_.leave();
        return item;
    }
    void end_exchange() noexcept { lock_.leave(); } // Harmless outside an exchange.

    // Moves half to `out`, yielded ones first, but keeps at least one. Returns the number moved.
    std::uint32_t take_half(batch& out) noexcept {
        owner_guard inside(lock_);
        return take(size() / 2, out, to_share);
    }

    // Moves the oldest spawned runnables to `out`, at most half as many as there are runnables.
    // Returns the number moved.
    std::uint32_t take_new_half(batch& out) noexcept {
        owner_guard inside(lock_);
        return take(size() / 2, out, new_only);
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
        return take(size(), out, to_steal);
    }

    // ---- any other thread
    //
    // Moves the older half to `out`, at least one. Returns the number moved: zero if the queue is
    // empty or the lock is refused. `first` is called inside the lock before that, and may push.
    template <class F>
    std::uint32_t steal_half(batch& out, F&& first) noexcept {
        if (in_sight() == 0 || !lock_.try_lock_remote()) return 0;
        first();
        const std::uint32_t count = take((size() + 1) / 2, out, to_steal);
        lock_.unlock_remote();
        return count;
    }

    // Moves all ready runnables to `out` likewise. Sets `out.count` to the number moved.
    template <class F>
    void steal_ready(batch& out, F&& first) noexcept {
        if (in_sight() == 0 || !lock_.try_lock_remote()) return;
        first();
        take(size(), out, ready_only);
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
    // The kinds that a removal takes, in this order. Work that is shared on request lies in the
    // injector until a worker looks there. Woken work, which its owner would run next, goes last of
    // the ready work. Behind a stuck owner it is the most urgent.
    static constexpr std::array to_share{kind::yielded, kind::woken, kind::spawned};
    static constexpr std::array to_steal{kind::woken, kind::yielded, kind::spawned};
    static constexpr std::array ready_only{kind::woken, kind::yielded};
    static constexpr std::array new_only{kind::spawned};

    // Moves the oldest `count` runnables of `which` to `out`. Returns the number moved.
    std::uint32_t take(std::uint32_t count, batch& out, std::span<const kind> which) noexcept {
        std::uint32_t taken = 0;
        for (const kind each : which) {
            for (; taken < count; ++taken) {
                runnable* const item = unlink_oldest(each);
                if (!item) break;
                // The number belonged to this queue.
                item->order = each == kind::spawned ? never_spawned_here : began_elsewhere;
                if (item->owned) [[unlikely]]
                    clear_owner(*item);
                out.push_back(*item, each);
            }
        }
        out.count = taken;
        if (taken != 0) took(taken);
        return taken;
    }
    // Does not change the size.
    runnable* unlink_oldest(kind which) noexcept {
        return which == kind::woken     ? woken_.pop_front()
               : which == kind::yielded ? unlink_yielded()
                                        : spawned_.pop_front();
    }

    // The kind that a pick takes after a runnable has ended. If the queue is empty: any.
    kind first_kind() const noexcept {
        const runnable* const newest = spawned_.back();
        if (!newest) return woken_.empty() ? kind::yielded : kind::woken;
        if (!woken_.empty()) return is_younger(*newest, woken_) ? kind::spawned : kind::woken;
        return new_goes_before_yielded() || is_younger(*newest, yielded_) ? kind::spawned
                                                                          : kind::yielded;
    }
    // True if `newest` was spawned after both the oldest and the last one of `ready` had begun.
    static bool is_younger(const runnable& newest, const list& ready) noexcept {
        const bool than_last =
            newest.order >= ready.back()->order || SENNIT_MUTANT("new work waits for the woken");
        return than_last && newest.order >= ready.front()->order;
    }
    // True if new work goes before the yielded runnables where none is woken.
    bool new_goes_before_yielded() const noexcept {
        const bool always_behind = SENNIT_MUTANT("new work goes before a few yielded tasks");
        return !spawned_.empty() &&
               yielded_count_ < (always_behind ? 1 : tuning::yielded_before_new);
    }
    // The runnable that `remove` removes; null if there is none.
    runnable* peek(kind which) const noexcept {
        return which == kind::woken     ? woken_.front()
               : which == kind::yielded ? yielded_.front()
                                        : spawned_.back();
    }
    void remove(kind which) noexcept {
        if (which == kind::yielded) {
            (void)pop_yielded();
            return;
        }
        (void)(which == kind::woken ? woken_.pop_front() : spawned_.pop_back());
        took(1);
    }
    void link_yielded(runnable& item) noexcept {
        if (SENNIT_MUTANT("woken tasks go before yielded ones")) return woken_.push_back(item);
        yielded_.push_back(item);
        ++yielded_count_;
    }
    runnable* unlink_yielded() noexcept {
        runnable* const item = yielded_.pop_front();
        if (item) --yielded_count_;
        return item;
    }
    // The owner continues the oldest yielded one.
    runnable* pop_yielded() noexcept {
        yielded_continued_ = true;
        took(1);
        return unlink_yielded();
    }
    // Inside the lock; see `exchange`.
    [[gnu::always_inline]] runnable* exchange_inside(runnable& self,
                                                     void (*run)(runnable*) noexcept) noexcept {
        if (runnable* const item = woken_.front()) [[unlikely]] {
            if (item->run != run) return nullptr;
            woken_.pop_front();
            link_yielded(self);
            return item;
        }
        runnable* const item = yielded_.front();
        if (!item || item->run != run || new_goes_before_yielded()) return nullptr;
        yielded_continued_ = true;
        return &yielded_.exchange_front(self);
    }

    friend class snapshot;
    biased_lock lock_;
    list woken_;
    list yielded_;
    list spawned_;
    // Order numbers that do not come from `next_order_`.
    // Older than every runnable that began here.
    static constexpr std::uint64_t never_spawned_here = 0;
    // Newer than every runnable that was spawned here.
    static constexpr std::uint64_t began_elsewhere = UINT64_MAX;
    std::uint64_t next_order_ = 1;    // The number of the next spawn; the owner's.
    std::uint32_t yielded_count_ = 0; // The length of `yielded_`.
    kind next_turn_ = kind::spawned;  // The kind that the next global poll prefers; the owner's.
    // True if a yielded one has continued since the last global poll; the owner's.
    bool yielded_continued_ = false;
    base::atomic<std::uint32_t> size_{0};
};

} // namespace sennit::sched
