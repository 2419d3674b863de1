// SPDX-License-Identifier: Apache-2.0
// The stack jump for AArch64 (AAPCS64). Included by sys/switch.hpp only.
//
// Layout at a saved stack pointer, upwards: frame pointer, link register, address to continue at,
// padding (sp stays 16-byte aligned). On Linux x18 is a register like x17, unless it belongs to the
// platform; the jump does not write it, and the code after the jump must not expect a value in it.
// The landing point carries `bti j`.
#pragma once

#include <cstdint>

namespace sennit::sys {

[[gnu::always_inline]] inline void jump(void** from_sp, void* to_sp) noexcept {
    register void** from asm("x0") = from_sp;
    register void* to asm("x1") = to_sp;
    asm volatile("sub sp, sp, #32\n\t"
                 "stp x29, x30, [sp]\n\t"
                 "adr x9, 1f\n\t"
                 "str x9, [sp, #16]\n\t"
                 "mov x9, sp\n\t"
                 "str x9, [x0]\n\t"
                 "mov sp, x1\n\t"
                 "ldr x9, [sp, #16]\n\t"
                 "br x9\n\t"
                 "1:\n\t"
                 "hint #36\n\t" // bti j
                 "ldp x29, x30, [sp]\n\t"
                 "add sp, sp, #32\n\t"
                 : "+r"(from), "+r"(to)
                 :
                 : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
                   "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24",
                   "x25", "x26", "x27", "x28", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6",
                   "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18",
                   "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29",
                   "v30", "v31", "memory", "cc");
}

// Where a saved thread of control continues, with which stack and frame pointer.
struct saved_position {
    const void* pc;
    const void* sp;
    const void* fp;
};
inline saved_position position_of_saved(const void* saved) noexcept {
    const auto* words = static_cast<const void* const*>(saved);
    return {words[2], static_cast<const char*>(saved) + 32, words[0]};
}

inline void* prepare_stack(void* high, void (*entry)()) noexcept {
    // SAFETY: `high` is the 16-byte aligned upper end of writable memory. `entry` finds sp 16-byte
    // aligned, and the frame pointer and link register of the code that jumped. `entry` never
    // returns.
    auto* sp = static_cast<std::uint64_t*>(high) - 4;
    sp[0] = 0;
    sp[1] = 0;
    sp[2] = reinterpret_cast<std::uint64_t>(entry);
    sp[3] = 0;
    return sp;
}

inline std::uint64_t read_fp_control() noexcept {
    std::uint64_t fpcr;
    asm volatile("mrs %0, fpcr" : "=r"(fpcr));
    return fpcr;
}

// The floating-point modes at construction.
class fp_note {
public:
    [[gnu::always_inline]] fp_note() noexcept : control_(read_fp_control()) {}
    [[gnu::always_inline]] bool is(std::uint64_t control) const noexcept {
        return control_ == control;
    }

private:
    std::uint64_t control_;
};

inline void write_fp_control(std::uint64_t control) noexcept {
    asm volatile("msr fpcr, %0" ::"r"(control));
}

} // namespace sennit::sys
