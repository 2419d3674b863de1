// SPDX-License-Identifier: Apache-2.0
// Keeps the compiler from merging one store with the store to the neighbouring word.
//
// GCC merges stores to adjacent words into one store from a vector register. A load of one of the
// words soon afterwards then waits longer than it would after a plain store: two to three times as
// long in a loop through memory (Zen 5: a step of a generator takes 3.1 ns instead of 1.5 ns).
// CMakeLists.txt switches the merging off for the library's own sources; this header does so for
// code that is compiled in a user's program.
#pragma once

namespace sennit::base {

// Tells the compiler that `stored`, which was just written, is read here, so that later stores stay
// separate from it. It emits no instruction, and it restricts no other reordering.
template <class T>
[[gnu::always_inline]] inline void prevent_store_merging(const T& stored) noexcept {
#if defined(__GNUC__) && !defined(__clang__)
    asm("" ::"m"(stored));
#else
    (void)stored;
#endif
}

// Returns the pointer from a register: the compiler then neither loads nor stores it together with
// its neighbour.
template <class T>
[[gnu::always_inline]] inline T* in_register(T* pointer) noexcept {
    asm("" : "+r"(pointer));
    return pointer;
}

} // namespace sennit::base
