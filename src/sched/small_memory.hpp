// SPDX-License-Identifier: Apache-2.0
// The lists of free pieces that a worker keeps. Owner's thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sennit::sched {

class small_memory {
public:
    static constexpr std::size_t unit = 64; // bytes by which sizes differ
    static constexpr std::size_t largest = 512;

    small_memory() = default;
    ~small_memory();
    small_memory(const small_memory&) = delete;

    // Null: none kept.
    void* take(std::size_t bytes) noexcept {
        auto& kept = lists_[(bytes - 1) / unit];
        piece* found = kept.first;
        if (!found) return nullptr;
        kept.first = found->next;
        --kept.count;
        return found;
    }
    // False: enough are kept.
    bool keep(void* memory, std::size_t bytes) noexcept;

private:
    struct piece {
        piece* next;
    };
    struct list {
        piece* first = nullptr;
        std::uint32_t count = 0;
    };
    std::array<list, largest / unit> lists_{};
};

} // namespace sennit::sched
