// SPDX-License-Identifier: Apache-2.0
// Memory for small objects that are made and freed all the time, such as the control blocks of
// fibers: each worker keeps what it frees in lists by size. The smallest piece that was freed last
// lies in the hot line, so that who frees one and takes another, as a handler that passes a message
// on, does so without a call. Threads that are no workers keep none there.
#pragma once

#include "sennit/detail/sys/worker_tls.hpp"

#include <cstddef>
#include <cstdint>

namespace sennit::sched {

namespace detail {
inline constexpr std::size_t smallest_block = 64; // bytes: all that is smaller takes as much
void* take_memory_of_lists(std::size_t bytes);
void give_memory_to_lists(void* memory, std::size_t bytes) noexcept;
} // namespace detail

// At least `bytes`, aligned to 16. Throws std::bad_alloc. A few ns on a worker that has freed such
// a piece before, else an allocation.
inline void* take_memory(std::size_t bytes) {
    if (bytes <= detail::smallest_block) {
        // Between the two nothing can suspend: they are the same thread's.
        if (const std::uintptr_t kept = sys::tls_spare_block(); kept > 1) [[likely]] {
            sys::tls_set_spare_block(0);
            // SAFETY: the address of a free piece, which give_memory put there.
            return reinterpret_cast<void*>(kept);
        }
    }
    return detail::take_memory_of_lists(bytes);
}

// From any thread, with the same number of bytes.
inline void give_memory(void* memory, std::size_t bytes) noexcept {
    if (bytes <= detail::smallest_block && sys::tls_spare_block() == 0) [[likely]]
        // SAFETY: only take_memory makes a pointer of it again.
        return sys::tls_set_spare_block(reinterpret_cast<std::uintptr_t>(memory));
    detail::give_memory_to_lists(memory, bytes);
}

} // namespace sennit::sched
