// SPDX-License-Identifier: Apache-2.0
// The injector: the queue of runnables that all workers and all other threads share.
//
// It holds work from outside, and work that a worker shares. Under the policy `sharing` it holds
// all work, in arrival order or in that of a `scheduling_order`. Each worker has another instance,
// its pinned queue, for work that only this worker may run. Shared new work lies behind all else. A
// worker that begins it while it has work of its own, or while begun work waits here, interrupts
// one subtree to begin another, and each interrupted subtree holds its stacks (src/core/README.md,
// "How many stacks").
//
// A spin lock guards the queue: the sections are a few instructions. Any thread may call `empty` at
// any time. The size is written inside the lock with sequential consistency, because the parking
// protocol (src/core/README.md) needs "push, then look for parked workers" against "announce
// parking, then look for work".
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
        size_.store(size_.load_rlx() + 1); // The owner of the lock is the only writer.
    }

    // Adds a batch that a worker shares.
    void push_batch(run_queue::batch& given) noexcept {
        std::lock_guard guard(lock_);
        const std::uint32_t count = given.count;
        if (order_) {
            while (runnable* item = given.pop()) put(*item);
        } else {
            items_.append(given.woken);
            items_.append(given.yielded);
            shared_spawned_.append(given.spawned);
            given.count = given.yielded_count = 0;
        }
        size_.store(size_.load_rlx() + count); // The owner of the lock is the only writer.
    }

    // When shared new work has its turn.
    enum class new_work { last, first, not_now };
    // Removes and returns the next runnable to run; null if there is none.
    runnable* pop(new_work when = new_work::last) noexcept {
        if (empty()) return nullptr;
        std::lock_guard guard(lock_);
        runnable* item = when == new_work::first ? shared_spawned_.pop_front() : nullptr;
        if (!item) item = take();
        if (!item && when == new_work::last) item = shared_spawned_.pop_front();
        if (!item) return nullptr;
        size_.store(size_.load_rlx() - 1); // The owner of the lock is the only writer.
        return item;
    }

    // Removes and returns the oldest runnable that may run on another worker than its affinity
    // names and for which `wanted` returns true; null if there is none. Examines only the first
    // few.
    template <class W>
    runnable* pop_soft_affinity(W&& wanted) noexcept {
        if (empty()) return nullptr;
        std::lock_guard guard(lock_);
        runnable* item = find_soft_affinity(wanted);
        if (!item) return nullptr;
        items_.remove(*item);
        size_.store(size_.load_rlx() - 1); // The owner of the lock is the only writer.
        return item;
    }
    bool has_soft_affinity() noexcept {
        if (empty()) return false;
        std::lock_guard guard(lock_);
        return find_soft_affinity(any) != nullptr;
    }

    // True if the queue holds a runnable that only this queue's worker may run.
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

    // Calls `change()`, which changes a property that the order depends on. `which()`, called
    // inside the lock, returns the runnable. If that runnable is in the queue, it moves to its new
    // place.
    template <class W, class F>
    void change(W&& which, F&& change) {
        std::lock_guard guard(lock_);
        runnable& item = which();
        if (!item.in_order) return change();
        order_->remove(item);
        struct put_back { // Also if `change` throws.
            scheduling_order& order;
            runnable& item;
            ~put_back() { order.push(item); }
        } back{*order_, item};
        change();
    }
    // Calls `look()` while no thread changes the queue.
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
        // Another queue, to which the runnable may move next, owns `in_order` otherwise.
        if (!order_) return items_.pop_front();
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
    base::intrusive_queue<runnable> shared_spawned_; // Shared new work, oldest first.
    base::atomic<std::size_t> size_{0};
};

} // namespace sennit::sched
