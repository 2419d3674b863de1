// SPDX-License-Identifier: Apache-2.0
// The queue of runnables that all workers and all other threads share.
//
// Work from outside comes this way, and what a worker with much of it gives away. Guarded by a spin lock: the sections
// are a few instructions. `empty` may be asked by anybody at any time; the size is written inside the lock with
// sequential consistency, because the idle protocol (src/sched/README.md) needs "push, then look for sleepers" against
// "announce sleep, then look for work".
#pragma once

#include "sennit/base/atomic.hpp"
#include "sennit/base/cache_line.hpp"
#include "sennit/base/intrusive_queue.hpp"
#include "sennit/base/spin_lock.hpp"
#include "sennit/sched/runnable.hpp"

#include <cstddef>
#include <mutex>

namespace sennit::sched {

class alignas(base::destructive_distance) shared_queue {
public:
    void push(runnable& item) noexcept {
        std::lock_guard guard(lock_);
        items_.push_back(item);
        size_.store(size_.load_rlx() + 1); // owner of the lock is the only writer
    }

    void push_all(base::intrusive_queue<runnable>& items, std::size_t count) noexcept {
        std::lock_guard guard(lock_);
        items_.append(items);
        size_.store(size_.load_rlx() + count); // owner of the lock is the only writer
    }

    // Null when there is none.
    runnable* pop_oldest() noexcept {
        if (empty()) return nullptr;
        std::lock_guard guard(lock_);
        runnable* item = items_.pop_front();
        if (item) size_.store(size_.load_rlx() - 1); // owner of the lock is the only writer
        return item;
    }

    bool empty() const noexcept { return size() == 0; }
    std::size_t size() const noexcept { return size_.load(); }

private:
    friend class snapshot;
    base::spin_lock lock_;
    base::intrusive_queue<runnable> items_;
    base::atomic<std::size_t> size_{0};
};

} // namespace sennit::sched
