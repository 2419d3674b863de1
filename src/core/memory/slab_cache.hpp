// SPDX-License-Identifier: Apache-2.0
// The slab cache of a worker: its lists of free blocks. Owner's thread only.
//
// A worker keeps at most two magazines of each size. Further blocks go to a depot of the process,
// one magazine at a time, and a worker that has none takes a magazine from there. Where one worker
// allocates the blocks that another one frees, 512 blocks therefore cost two locks.
#pragma once

#include "core/policy/tuning.hpp"
#include "sennit/detail/core/slab_cache.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sennit::sched {

class slab_cache {
public:
    static constexpr std::size_t largest = detail::largest_listed;
    static constexpr std::size_t size_classes = detail::size_class_of(largest) + 1;

    using block = detail::free_block;

    slab_cache() noexcept {
        for (list& each : lists_) each.room = magazine_size;
    }
    ~slab_cache();
    slab_cache(const slab_cache&) = delete;

    // Returns null if no block is kept.
    void* take(std::size_t bytes) noexcept {
        auto& kept = lists_[detail::size_class_of(bytes)];
        block* found = kept.first;
        if (!found) return take_magazine(detail::size_class_of(bytes));
        kept.first = found->next;
        __builtin_prefetch(found->prefetch_hint, 1); // Another worker may have freed it.
        ++kept.room;
        return found;
    }
    // Own thread. Allows one free block in the thread's hot line; `free_tls_spare_block` frees it
    // and allows no further one.
    static void enable_tls_spare_block() noexcept;
    static void free_tls_spare_block() noexcept;

    // Returns false if this magazine is full.
    bool keep(void* memory, std::size_t bytes) noexcept {
        auto& kept = lists_[detail::size_class_of(bytes)];
        if (kept.room == 0) return false;
        block*& before = kept.last[kept.room-- % kept.last.size()];
        before = kept.first = ::new (memory) block{kept.first, nullptr, before};
        return true;
    }
    // Called when `keep` has returned false: puts the magazine aside. Returns false if there are
    // enough magazines.
    [[gnu::noinline]] bool put_magazine(std::size_t bytes) noexcept;

private:
    using list = detail::block_list;
    [[gnu::noinline]] void* take_magazine(std::size_t number) noexcept;
    static constexpr std::uint32_t magazine_size = tuning::max_cached_blocks / 2;
    std::array<list, size_classes> lists_{}; // First: see detail::list_of.
};

} // namespace sennit::sched
