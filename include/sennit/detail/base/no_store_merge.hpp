// SPDX-License-Identifier: Apache-2.0
// Keeps one store from being joined with its neighbour's.
//
// GCC joins stores to words that lie side by side into one from a vector register. Whoever reads
// one of the words soon after waits longer for it than for a plain store: two to three times as
// long in a loop through memory (Zen 5, a generator's step 3.1 and 1.5 ns). The library's sources
// are compiled without that (CMakeLists.txt); this is for what is compiled in a user's program.
#pragma once

namespace sennit::base {

// Says that `stored`, which was written just before, is read here: what is written after it is
// written apart from it. No instruction; nothing else is kept from moving.
template <class T>
[[gnu::always_inline]] inline void prevent_store_merging(const T& stored) noexcept {
#if defined(__GNUC__) && !defined(__clang__)
    asm("" ::"m"(stored));
#else
    (void)stored;
#endif
}

} // namespace sennit::base
