// SPDX-License-Identifier: Apache-2.0
// The idle contexts that one worker keeps, so that a context that blocks leaves for another without
// a lock. Only the owner calls it, except for `size`, which any thread may read.
#pragma once

#include "core/memory/context_pool.hpp"
#include "core/policy/tuning.hpp"
#include "core/switch/context.hpp"
#include "sennit/detail/base/atomic.hpp"

#include <cstddef>
#include <exception>

namespace sennit::sched {

class context_cache {
public:
    // Returns an idle context of the cache, or of `pool`. Null: the pool has none and the system
    // refuses the memory for another.
    context* take(context_pool& pool) noexcept {
        if (context* found = newest_) {
            newest_ = found->next_free;
            size_.store_rlx(size_.load_rlx() - 1); // A metric, written by its owner only.
            return found;
        }
        return take_from(pool);
    }
    // Keeps `idle`, or gives it to `pool` if the cache is full or the stack has an unusual size.
    void give(context& idle, context_pool& pool) noexcept {
        if (size_.load_rlx() >= tuning::max_cached_contexts || idle.large) // Owner's own word.
            return pool.give(idle);
        idle.next_free = newest_;
        newest_ = &idle;
        size_.store_rlx(size_.load_rlx() + 1); // A metric, written by its owner only.
    }
    std::size_t size() const noexcept { return size_.load_rlx(); } // A metric: orders nothing.

private:
    static context* take_from(context_pool& pool) noexcept {
        try {
            return &pool.take();
        } catch (const std::exception&) {
            return nullptr;
        }
    }

    context* newest_ = nullptr;
    base::atomic<std::size_t> size_{0};
};

} // namespace sennit::sched
