// SPDX-License-Identifier: Apache-2.0
// The queue of runnables that all workers and all other threads share.
//
// Work from outside comes this way, and what a worker with much of it gives away; under the policy
// `sharing` all work, in arrival order or in that of a `scheduling_order`. A worker has one more,
// for what only it may run, its inbox. New work that a worker gave away lies behind all else: a
// worker that begins it while it has work of its own, or while begun work waits here, interrupts
// one subtree to begin another, and each that is interrupted holds its stacks (src/core/README.md,
// "How many stacks"). Guarded by a spin lock: the sections are a few instructions. `empty` may be
// asked by anybody at any time; the size is written inside the lock with sequential consistency,
// because the idle protocol (src/core/README.md) needs "push, then look for sleepers" against
// "announce sleep, then look for work".
#pragma once

#include "core/queues/run_queue.hpp"
#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/cache_line.hpp"
#include "sennit/detail/base/intrusive_queue.hpp"
#include "sennit/detail/sys/spin_lock.hpp"
#include "sennit/scheduling.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

namespace sennit::sched {

class alignas(base::destructive_distance) shared_queue {
public:
    shared_queue() noexcept = default;
    // Null: arrival order.
    explicit shared_queue(std::unique_ptr<scheduling_order> order) noexcept
        : order_(std::move(order)) {}

    void push(runnable& item) noexcept {
        std::lock_guard guard(lock_);
        put(item);
        size_.store(size_.load_rlx() + 1); // owner of the lock is the only writer
    }

    // What a worker gives away.
    void push_batch(run_queue::batch& given) noexcept {
        std::lock_guard guard(lock_);
        if (order_) {
            while (runnable* item = given.woken.pop_front()) put(*item);
            while (runnable* item = given.spawned.pop_front()) put(*item);
        } else {
            items_.append(given.woken);
            shared_spawned_.append(given.spawned);
        }
        size_.store(size_.load_rlx() +
                    std::exchange(given.count, 0)); // owner of the lock is the only writer
    }

    // When new work that was given away has its turn.
    enum class new_work { last, first, not_now };
    // The next one to run; null when there is none.
    runnable* pop(new_work when = new_work::last) noexcept {
        if (empty()) return nullptr;
        std::lock_guard guard(lock_);
        runnable* item = when == new_work::first ? shared_spawned_.pop_front() : nullptr;
        if (!item) item = take();
        if (!item && when == new_work::last) item = shared_spawned_.pop_front();
        if (!item) return nullptr;
        size_.store(size_.load_rlx() - 1); // owner of the lock is the only writer
        return item;
    }

    // The oldest one that may run elsewhere than its home and is `wanted`; null when there is none.
    // Looks at a few only.
    template <class W>
    runnable* pop_soft_affinity(W&& wanted) noexcept {
        if (empty()) return nullptr;
        std::lock_guard guard(lock_);
        runnable* item = find_soft_affinity(wanted);
        if (!item) return nullptr;
        items_.remove(*item);
        size_.store(size_.load_rlx() - 1); // owner of the lock is the only writer
        return item;
    }
    bool has_soft_affinity() noexcept {
        if (empty()) return false;
        std::lock_guard guard(lock_);
        return find_soft_affinity(any) != nullptr;
    }

    // Something that only this queue's worker may run.
    bool has_hard_affinity() noexcept {
        if (empty()) return false;
        std::lock_guard guard(lock_);
        runnable* item = items_.front();
        while (item && item->affinity_is_soft) item = items_.after(*item);
        return item != nullptr;
    }

    static bool any(const runnable&) noexcept { return true; }

    bool empty() const noexcept { return size() == 0; }
    std::size_t size() const noexcept { return size_.load(); }

    // Calls `change()`, which changes what the order goes by; `which()`, asked inside the lock, may
    // be here, and gets its new place then.
    template <class W, class F>
    void change(W&& which, F&& change) {
        std::lock_guard guard(lock_);
        runnable& item = which();
        if (!item.in_order) return change();
        order_->remove(item);
        struct put_back { // also when `change` throws
            scheduling_order& order;
            runnable& item;
            ~put_back() { order.push(item); }
        } back{*order_, item};
        change();
    }
    // Calls `look()`, while nobody changes anything.
    template <class F>
    void look(F&& look) {
        std::lock_guard guard(lock_);
        look();
    }
    bool ordered() const noexcept { return order_ != nullptr; }

private:
    friend class snapshot;
    void put(runnable& item) noexcept {
        if (order_) {
            item.in_order = true;
            order_->push(item);
        } else {
            items_.push_back(item);
        }
    }
    runnable* take() noexcept {
        if (!order_)
            return items_
                .pop_front(); // `in_order` is another queue's to write, in which it may lie next
        runnable* item = order_->pop();
        if (item) item->in_order = false;
        return item;
    }

    template <class W>
    runnable* find_soft_affinity(W&& wanted) const noexcept {
        runnable* item = items_.front();
        for (int left = 64; item && !(item->affinity_is_soft && wanted(*item)); --left)
            item = left > 0 ? items_.after(*item) : nullptr;
        return item;
    }

    base::spin_lock lock_;
    const std::unique_ptr<scheduling_order> order_;
    base::intrusive_queue<runnable> items_;
    base::intrusive_queue<runnable>
        shared_spawned_; // new work that workers gave away, oldest first
    base::atomic<std::size_t> size_{0};
};

} // namespace sennit::sched
