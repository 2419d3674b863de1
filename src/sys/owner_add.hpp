// SPDX-License-Identifier: Apache-2.0
// Adds to a word that only one thread writes and others read now and then.
#pragma once

#include "sennit/base/atomic.hpp"
#include "sennit/sys/hot_line.hpp"

#include <cstdint>

namespace sennit::sys {

// Owner's thread. Readers see each sum whole; it orders nothing. On x86-64 one instruction, which compilers do not make
// of a load and a store that are atomic: 2 % of a yield.
inline void owner_add(base::atomic<std::uint64_t>& word, std::uint64_t n) noexcept {
#ifdef SENNIT_HOT_LINE_ASM
    asm("addq %1, %0" : "+m"(word) : "re"(n) : "cc");
#else
    word.store_rlx(word.load_rlx() + n); // orders nothing; single writer
#endif
}

} // namespace sennit::sys
