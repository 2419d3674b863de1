// SPDX-License-Identifier: Apache-2.0
// The stack jump for x86-64 (System V ABI). Included by sys/switch.hpp only.
//
// Layout at a saved stack pointer, upwards: address to go on at, frame pointer, 128 bytes that may be a red zone.
// Control-flow protection: the landing point carries endbr64. Shadow stacks are not switched; a process that runs with
// user shadow stacks on is refused at the start of a runtime (`shadow_stack_active`).
#pragma once

#include <cstdint>

namespace sennit::sys {

[[gnu::always_inline]] inline void jump(void** from_sp, void* to_sp) noexcept {
    asm volatile("leaq -128(%%rsp), %%rsp\n\t"
                 "pushq %%rbp\n\t"
                 "leaq 1f(%%rip), %%rax\n\t"
                 "pushq %%rax\n\t"
                 "movq %%rsp, (%[from])\n\t"
                 "movq %[to], %%rsp\n\t"
                 "popq %%rax\n\t"
                 "jmpq *%%rax\n\t"
                 "1:\n\t"
                 "endbr64\n\t"
                 "popq %%rbp\n\t"
                 "leaq 128(%%rsp), %%rsp\n\t"
                 : [from] "+D"(from_sp), [to] "+S"(to_sp)
                 :
                 : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1",
                   "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
                   "xmm14", "xmm15",
#ifdef __AVX512F__
                   "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26",
                   "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7",
#endif
                   "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)", "memory", "cc");
}

// Where a saved thread of control goes on, with which stack and frame pointer.
struct saved_position {
    const void* pc;
    const void* sp;
    const void* fp;
};
inline saved_position position_of_saved(const void* saved) noexcept {
    const auto* words = static_cast<const void* const*>(saved);
    return {words[0], static_cast<const char*>(saved) + 16 + 128, words[1]};
}

// A stack pointer which `jump` takes to `entry`, a function that never returns. Backtraces end there.
inline void* prepare_stack(void* high, void (*entry)()) noexcept {
    // SAFETY: `high` is the 16-byte aligned upper end of writable memory; at entry the ABI wants rsp % 16 == 8.
    auto* sp = static_cast<std::uint64_t*>(high) - 3;
    sp[0] = 0;                                      // return address: none
    *--sp = reinterpret_cast<std::uint64_t>(entry); // popped by jump
    return sp;
}

inline std::uint64_t read_fp_control() noexcept {
    std::uint32_t mxcsr;
    std::uint16_t x87;
    asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(mxcsr), "=m"(x87));
    constexpr std::uint32_t sticky_flags = 0x3f; // exception flags are a thread's history, not its mode
    return (std::uint64_t{x87} << 32) | (mxcsr & ~sticky_flags);
}

// Looks at the x87 control word only: reading mxcsr waits for all vector arithmetic before it (7 ns, Zen 3), and
// whatever changes modes by <cfenv> changes both. What was set by intrinsics alone (_MM_SET_FLUSH_ZERO_MODE) stays with
// the thread.
inline bool fp_control_is(std::uint64_t control) noexcept {
    std::uint16_t x87;
    asm volatile("fnstcw %0" : "=m"(x87));
    return x87 == control >> 32;
}

inline void write_fp_control(std::uint64_t control) noexcept {
    const auto mxcsr = static_cast<std::uint32_t>(control);
    const auto x87 = static_cast<std::uint16_t>(control >> 32);
    asm volatile("ldmxcsr %0\n\tfldcw %1" ::"m"(mxcsr), "m"(x87));
}

} // namespace sennit::sys
