// SPDX-License-Identifier: Apache-2.0
// The lists of free pieces that a worker keeps. Owner's thread only.
//
// Two batches of each size at most. What is more goes to a depot of the process, a batch at a time,
// from where a worker takes one that has none: so where one worker makes what another one frees,
// 512 pieces cost two locks.
#pragma once

#include "core/policy/tuning.hpp"
#include "sennit/detail/core/slab_cache.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sennit::sched {

class slab_cache {
public:
    static constexpr std::size_t unit = detail::smallest_block; // bytes by which sizes differ
    static constexpr std::size_t largest = 512;
    static constexpr std::size_t size_classes = largest / unit;

    struct block {
        block* next;
        block* next_magazine; // of a batch's first piece, in the depot
        block* prefetch_hint; // one that is taken some later; a hint, and perhaps gone
    };

    slab_cache() = default;
    ~slab_cache();
    slab_cache(const slab_cache&) = delete;

    // Null: none kept.
    void* take(std::size_t bytes) noexcept {
        auto& kept = lists_[(bytes - 1) / unit];
        block* found = kept.first;
        if (!found) return take_magazine((bytes - 1) / unit);
        kept.first = found->next;
        __builtin_prefetch(found->prefetch_hint, 1); // another worker may have freed it
        --kept.count;
        return found;
    }
    // Own thread, first and last: whether a piece may lie in its hot line.
    static void enable_tls_spare_block() noexcept;
    static void free_tls_spare_block() noexcept;

    // False: enough are kept in this batch.
    bool keep(void* memory, std::size_t bytes) noexcept {
        auto& kept = lists_[(bytes - 1) / unit];
        if (kept.count >= magazine_size) return false;
        block*& before = kept.last[kept.count++ % kept.last.size()];
        before = kept.first = ::new (memory) block{kept.first, nullptr, before};
        return true;
    }
    // Then: the batch is put aside. False: there are enough of these.
    [[gnu::noinline]] bool put_magazine(std::size_t bytes) noexcept;

private:
    struct list {
        block* first = nullptr;
        std::uint32_t count = 0;
        block* full_magazine = nullptr; // a whole batch more
        std::array<block*, 8> last{};   // the latest that were freed, by their count
    };
    [[gnu::noinline]] void* take_magazine(std::size_t number) noexcept;
    static constexpr std::uint32_t magazine_size = tuning::max_cached_blocks / 2;
    std::array<list, size_classes> lists_{};
};

} // namespace sennit::sched
