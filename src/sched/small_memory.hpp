// SPDX-License-Identifier: Apache-2.0
// The lists of free pieces that a worker keeps. Owner's thread only.
//
// Two batches of each size at most. What is more goes to a depot of the process, a batch at a time, from where a worker
// takes one that has none: so where one worker makes what another one frees, 512 pieces cost two locks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sennit::sched {

class small_memory {
public:
    static constexpr std::size_t unit = 64; // bytes by which sizes differ
    static constexpr std::size_t largest = 512;
    static constexpr std::size_t sizes = largest / unit;

    struct piece {
        piece* next;
        piece* next_batch; // of a batch's first piece, in the depot
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
        --kept.count;
        return found;
    }
    // False: enough are kept.
    bool keep(void* memory, std::size_t bytes) noexcept;

private:
    struct list {
        piece* first = nullptr;
        std::uint32_t count = 0;
        piece* full = nullptr; // a whole batch more
    };
    [[gnu::noinline]] void* take_batch(std::size_t number) noexcept;
    [[gnu::noinline]] bool put_batch(std::size_t number) noexcept;
    std::array<list, sizes> lists_{};
};

} // namespace sennit::sched
