// SPDX-License-Identifier: Apache-2.0
// A queue of runnables that its worker and thieves share.
//
// Guarded by a spin lock: the sections are a few instructions, and forks do not come this way. `size` may be read by
// anybody at any time; it is written inside the lock with sequential consistency, because the idle protocol
// (src/sched/README.md) needs "push, then look for sleepers" against "announce sleep, then look for work".
#pragma once

#include "sennit/base/atomic.hpp"
#include "sennit/base/cache_line.hpp"
#include "sennit/base/intrusive_queue.hpp"
#include "sennit/base/spin_lock.hpp"
#include "sennit/sched/runnable.hpp"

#include <cstddef>
#include <mutex>

namespace sennit::sched {

class alignas(base::destructive_distance) run_queue {
public:
    void push(runnable& item) noexcept {
        std::lock_guard guard(lock_);
        items_.push_back(item);
        size_.store(size_.load_rlx() + 1); // owner of the lock is the only writer
    }

    runnable* pop_oldest() noexcept { return pop<&base::intrusive_queue<runnable>::pop_front>(); }
    runnable* pop_newest() noexcept { return pop<&base::intrusive_queue<runnable>::pop_back>(); }

    bool empty() const noexcept { return size_.load() == 0; }

private:
    template <auto Take>
    runnable* pop() noexcept {
        if (empty()) return nullptr;
        std::lock_guard guard(lock_);
        runnable* item = (items_.*Take)();
        if (item) size_.store(size_.load_rlx() - 1); // owner of the lock is the only writer
        return item;
    }

    base::spin_lock lock_;
    base::intrusive_queue<runnable> items_;
    base::atomic<std::size_t> size_{0};
};

} // namespace sennit::sched
