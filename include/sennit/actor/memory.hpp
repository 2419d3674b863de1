// SPDX-License-Identifier: Apache-2.0
// The memory of messages and actors: it comes from the slab cache of each worker, unless a class
// brings allocation functions of its own.
//
//     struct line {                            // the functions serve the message and its node
//         char text[200];
//         static void* operator new(std::size_t bytes) { return pool.take(bytes); }
//         static void operator delete(void* memory, std::size_t bytes) noexcept {
//             pool.give(memory, bytes);
//         }
//     };
//
// Any thread may call these functions. For a message, `bytes` is more than sizeof(line), because
// the node that carries the message is in front. A class that is aligned to more than 16 bytes
// brings the forms with std::align_val_t, if it brings any.
#pragma once

#include "sennit/detail/core/slab_cache.hpp"

#include <cstddef>
#include <new>

namespace sennit::detail {

// The alignment of memory from take_memory.
inline constexpr std::size_t common_alignment = 16;

template <class T>
concept has_own_new = requires(std::size_t bytes) { T::operator new(bytes); };
template <class T>
concept has_own_aligned_new =
    requires(std::size_t bytes, std::align_val_t alignment) { T::operator new(bytes, alignment); };

// Takes memory for a `Whole` that is or carries a T; the class T chooses the allocator. Throws the
// exceptions of that allocator, or std::bad_alloc.
template <class T, class Whole>
void* take_memory_for() {
    constexpr bool over_aligned = alignof(Whole) > common_alignment;
    static_assert(!over_aligned || !has_own_new<T> || has_own_aligned_new<T>,
                  "sennit: a class that is over-aligned and has an operator new needs the one with "
                  "std::align_val_t");
    if constexpr (over_aligned && has_own_aligned_new<T>)
        return T::operator new(sizeof(Whole), std::align_val_t(alignof(Whole)));
    else if constexpr (over_aligned)
        return ::operator new(sizeof(Whole), std::align_val_t(alignof(Whole)));
    else if constexpr (has_own_new<T>)
        return T::operator new(sizeof(Whole));
    else
        return sched::take_memory(sizeof(Whole));
}

template <class T, class Whole>
void give_memory_for(void* memory) noexcept {
    constexpr bool over_aligned = alignof(Whole) > common_alignment;
    constexpr std::align_val_t alignment{alignof(Whole)};
    constexpr std::size_t bytes = sizeof(Whole);
    if constexpr (over_aligned && has_own_aligned_new<T>) {
        if constexpr (requires { T::operator delete(memory, bytes, alignment); })
            T::operator delete(memory, bytes, alignment);
        else
            T::operator delete(memory, alignment);
    } else if constexpr (over_aligned) {
        ::operator delete(memory, bytes, alignment);
    } else if constexpr (has_own_new<T>) {
        if constexpr (requires { T::operator delete(memory, bytes); })
            T::operator delete(memory, bytes);
        else
            T::operator delete(memory);
    } else {
        sched::give_memory(memory, bytes);
    }
}

} // namespace sennit::detail
