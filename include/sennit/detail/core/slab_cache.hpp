// SPDX-License-Identifier: Apache-2.0
// Memory for small objects that are created and freed all the time, such as the control blocks of
// fibers. Each worker keeps freed blocks in lists by size. The smallest block that was freed last
// lies in the worker TLS line. So code that frees one block and takes another, as a handler that
// passes a message on does, makes no call. Threads that are not workers keep no block there.
//
// The sizes are 72, 88, 104 bytes, and so on up to 520. malloc of glibc adds 8 bytes and rounds up
// to a multiple of 16, so a block of these sizes wastes nothing. Steps of 64 bytes, from 64 to 512,
// took 48 bytes more for a suspended task: docs/internals/decisions/0081.
#pragma once

#include "sennit/detail/sys/worker_tls.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>

namespace sennit::sched {

namespace detail {
inline constexpr std::size_t smallest_block = 72; // bytes; smaller objects take this much, too
inline constexpr std::size_t block_step = 16;     // bytes between two sizes
inline constexpr std::size_t largest_listed = 520;
// The number of a size, from 0 up.
constexpr std::size_t size_class_of(std::size_t bytes) noexcept {
    return bytes <= smallest_block ? 0 : (bytes - smallest_block + block_step - 1) / block_step;
}
void* take_memory_of_lists(std::size_t bytes);
void give_memory_to_lists(void* memory, std::size_t bytes) noexcept;

struct free_block {
    free_block* next;
    free_block* next_magazine; // Of a magazine's first block, in the depot.
    // A block that will be taken some blocks later; a hint, and perhaps gone.
    free_block* prefetch_hint;
};

// The free blocks of one size. A worker begins with an array of them, one for each size.
struct block_list {
    free_block* first = nullptr;
    std::uint32_t room = 0;              // The number of blocks that may still be kept.
    free_block* full_magazine = nullptr; // One more whole magazine.
    std::array<free_block*, 8> last{};   // The latest blocks that were freed, by their count.
};

// The list for blocks of this size; null on a thread that is no worker.
inline block_list* list_of(std::size_t bytes) noexcept {
    // SAFETY: a worker begins with these lists; its constructor checks that.
    auto* lists = static_cast<block_list*>(sys::tls_worker());
    return lists ? lists + size_class_of(bytes) : nullptr;
}
} // namespace detail

// Returns at least `bytes`, aligned to 16. Throws std::bad_alloc. Takes a few ns on a worker that
// has freed such a block before, otherwise an allocation.
inline void* take_memory(std::size_t bytes) {
    if (bytes <= detail::smallest_block) {
        // Nothing can suspend between the two accesses, so both reach the same thread's line.
        if (const std::uintptr_t kept = sys::tls_spare_block(); kept > 1) [[likely]] {
            sys::tls_set_spare_block(0);
            // SAFETY: the address of a free block, which give_memory stored.
            return reinterpret_cast<void*>(kept);
        }
    }
    return detail::take_memory_of_lists(bytes);
}

// Frees a block. May be called from any thread, with the number of bytes that was passed to
// take_memory.
inline void give_memory(void* memory, std::size_t bytes) noexcept {
    if (bytes <= detail::smallest_block && sys::tls_spare_block() == 0) [[likely]]
        // SAFETY: only take_memory converts the number back to a pointer.
        return sys::tls_set_spare_block(reinterpret_cast<std::uintptr_t>(memory));
    detail::give_memory_to_lists(memory, bytes);
}

// Memory for coroutine frames and the like, without a call where the worker has such a block, and
// room for it. The lists give the latest block first, as calls need it.
inline void* take_frame(std::size_t bytes) {
    if (bytes <= detail::smallest_block) return take_memory(bytes);
    if (bytes <= detail::largest_listed) {
        detail::block_list* list = detail::list_of(bytes);
        if (list && list->first) [[likely]] {
            detail::free_block* found = list->first;
            list->first = found->next;
            ++list->room;
            return found;
        }
    }
    return detail::take_memory_of_lists(bytes);
}
inline void give_frame(void* memory, std::size_t bytes) noexcept {
    if (bytes <= detail::smallest_block) return give_memory(memory, bytes);
    if (bytes <= detail::largest_listed) {
        detail::block_list* list = detail::list_of(bytes);
        if (list && list->room != 0) [[likely]] {
            --list->room;
            list->first = ::new (memory) detail::free_block{list->first, nullptr, nullptr};
            return;
        }
    }
    detail::give_memory_to_lists(memory, bytes);
}

} // namespace sennit::sched
