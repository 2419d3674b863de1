// SPDX-License-Identifier: Apache-2.0
// The stack jump for x86-64 (System V ABI), for sys/switch.hpp and for side stacks.
//
// Layout at a saved stack pointer, upwards: address to go on at, frame pointer, 128 bytes that may be a red zone.
// Control-flow protection: the landing point carries endbr64 in code that is compiled for it. Shadow stacks are not
// switched; a process that runs with user shadow stacks on is refused at the start of a runtime
// (`shadow_stack_active`).
//
// It is here, and always inline, because a function that is entered on one stack and returned from on the other spoils
// the processor's stack of return addresses: 8 ns for each return (EPYC), twice in a turn of a coroutine.
#pragma once

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
#if defined(__CET__) && (__CET__ & 1)
                 "endbr64\n\t"
#endif
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

} // namespace sennit::sys
