// SPDX-License-Identifier: Apache-2.0
// The lists of free pieces that a worker keeps. Owner's thread only.
//
// Two batches of each size at most. What is more goes to a depot of the process, a batch at a time, from where a worker
// takes one that has none: so where one worker makes what another one frees, 512 pieces cost two locks.
#pragma once

#include "sched/tuning.hpp"
#include "sennit/sched/small_memory.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sennit::sched {

class small_memory {
public:
    static constexpr std::size_t unit = detail::smallest_piece; // bytes by which sizes differ
    static constexpr std::size_t largest = 512;
    static constexpr std::size_t sizes = largest / unit;

    struct piece {
        piece* next;
        piece* next_batch; // of a batch's first piece, in the depot
        piece* ahead;      // one that is taken some later; a hint, and perhaps gone
    };

    small_memory() = default;
    ~small_memory();
    small_memory(const small_memory&) = delete;

    // Null: none kept.
    void* take(std::size_t bytes) noexcept {
        auto& kept = lists_[(bytes - 1) / unit];
        piece* found = kept.first;
        if (!found) return take_batch((bytes - 1) / unit);
        kept.first = found->next;
        __builtin_prefetch(found->ahead, 1); // another worker may have freed it
        --kept.count;
        return found;
    }
    // Own thread, first and last: whether a piece may lie in its hot line.
    static void keep_a_spare() noexcept;
    static void free_the_spare() noexcept;

    // False: enough are kept in this batch.
    bool keep(void* memory, std::size_t bytes) noexcept {
        auto& kept = lists_[(bytes - 1) / unit];
        if (kept.count >= batch_size) return false;
        piece*& before = kept.last[kept.count++ % kept.last.size()];
        before = kept.first = ::new (memory) piece{kept.first, nullptr, before};
        return true;
    }
    // Then: the batch is put aside. False: there are enough of these.
    [[gnu::noinline]] bool put_batch(std::size_t bytes) noexcept;

private:
    struct list {
        piece* first = nullptr;
        std::uint32_t count = 0;
        piece* full = nullptr;        // a whole batch more
        std::array<piece*, 8> last{}; // the latest that were freed, by their count
    };
    [[gnu::noinline]] void* take_batch(std::size_t number) noexcept;
    static constexpr std::uint32_t batch_size = tuning::max_kept_pieces / 2;
    std::array<list, sizes> lists_{};
};

} // namespace sennit::sched
