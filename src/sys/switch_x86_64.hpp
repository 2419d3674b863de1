// SPDX-License-Identifier: Apache-2.0
// The parts of a switch on x86-64 (System V ABI) besides the jump. Included by sys/switch.hpp only.
#pragma once

#include "sennit/detail/sys/jump_x86_64.hpp"

#include <cstdint>

namespace sennit::sys {

// Where a saved thread of control continues, with which stack and frame pointer.
struct saved_position {
    const void* pc;
    const void* sp;
    const void* fp;
};
inline saved_position position_of_saved(const void* saved) noexcept {
    const auto* words = static_cast<const void* const*>(saved);
    return {words[0], static_cast<const char*>(saved) + 16 + 128, words[1]};
}

// Returns a stack pointer that `jump` takes to `entry`, a function that never returns. Backtraces
// end there.
inline void* prepare_stack(void* high, void (*entry)()) noexcept {
    // SAFETY: `high` is the 16-byte aligned upper end of writable memory; at entry the ABI requires
    // rsp % 16 == 8.
    auto* sp = static_cast<std::uint64_t*>(high) - 3;
    sp[0] = 0;                                      // return address: none
    *--sp = reinterpret_cast<std::uint64_t>(entry); // popped by jump
    return sp;
}

inline std::uint64_t read_fp_control() noexcept {
    std::uint32_t mxcsr;
    std::uint16_t x87;
    asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(mxcsr), "=m"(x87));
    // Exception flags are a thread's history, not its mode.
    constexpr std::uint32_t sticky_flags = 0x3f;
    return (std::uint64_t{mxcsr & ~sticky_flags} << 32) | x87;
}

// The floating-point modes at construction, to be compared later. The word takes long on its way to
// memory, so comparing it immediately would cost 4 % of a yield (Zen 5). It is the x87 control word
// only: reading mxcsr waits for all earlier vector arithmetic (7 ns, Zen 3), and code that changes
// modes through <cfenv> changes both words. A mode that is set by intrinsics alone
// (_MM_SET_FLUSH_ZERO_MODE) stays with the thread.
class fp_note {
public:
    [[gnu::always_inline]] fp_note() noexcept { asm volatile("fnstcw %0" : "=m"(x87_)); }
    [[gnu::always_inline]] bool is(std::uint64_t control) const noexcept {
        // compared in the width in which it was read
        return x87_ == static_cast<std::uint16_t>(control);
    }

private:
    std::uint16_t x87_;
};

inline void write_fp_control(std::uint64_t control) noexcept {
    const auto mxcsr = static_cast<std::uint32_t>(control >> 32);
    const auto x87 = static_cast<std::uint16_t>(control);
    asm volatile("ldmxcsr %0\n\tfldcw %1" ::"m"(mxcsr), "m"(x87));
}

} // namespace sennit::sys
