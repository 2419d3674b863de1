// SPDX-License-Identifier: Apache-2.0
// Memory for small objects that are created and freed all the time, such as the control blocks of
// fibers. Each worker keeps freed blocks in lists by size. The smallest block that was freed last
// lies in the worker TLS line. So code that frees one block and takes another, as a handler that
// passes a message on does, makes no call. Threads that are not workers keep no block there.
#pragma once

#include "sennit/detail/sys/worker_tls.hpp"

#include <cstddef>
#include <cstdint>

namespace sennit::sched {

namespace detail {
inline constexpr std::size_t smallest_block = 64; // bytes; smaller objects take this much, too
void* take_memory_of_lists(std::size_t bytes);
void give_memory_to_lists(void* memory, std::size_t bytes) noexcept;
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

} // namespace sennit::sched
