// SPDX-License-Identifier: Apache-2.0
// The stack jump for x86-64 (System V ABI), used by sys/switch.hpp and by coroutine stacks.
//
// Layout at a saved stack pointer, upwards: the address to continue at, the frame pointer, and 128
// bytes that may be a red zone. Control-flow protection: the landing point carries endbr64 in code
// that is compiled for it. Shadow stacks are not switched; the start of a runtime refuses a process
// that runs with user shadow stacks (`shadow_stack_active`).
//
// The jump is in a header and always inline. A function that is entered on one stack and returned
// from on another spoils the processor's stack of return addresses. Each such return costs 8 ns
// (EPYC), and a round trip to a coroutine has two.
#pragma once

namespace sennit::sys {

// The two halves of a jump: save the address to continue at, then jump. Between the halves, a
// register may be loaded for the other side.
#define SENNIT_JUMP_FROM                                                                           \
    "leaq -128(%%rsp), %%rsp\n\t"                                                                  \
    "pushq %%rbp\n\t"                                                                              \
    "leaq 1f(%%rip), %%rax\n\t"                                                                    \
    "pushq %%rax\n\t"                                                                              \
    "movq %%rsp, (%[from])\n\t"
#if defined(__CET__) && (__CET__ & 1)
#define SENNIT_JUMP_LANDING "1:\n\tendbr64\n\t"
#else
#define SENNIT_JUMP_LANDING "1:\n\t"
#endif
#define SENNIT_JUMP_TO                                                                             \
    "movq %[to], %%rsp\n\t"                                                                        \
    "popq %%rax\n\t"                                                                               \
    "jmpq *%%rax\n\t" SENNIT_JUMP_LANDING "popq %%rbp\n\t"                                         \
    "leaq 128(%%rsp), %%rsp\n\t"
// The clobber list names all registers but the operands, so the compiler saves the live ones.
#ifdef __AVX512F__
#define SENNIT_JUMP_WIDE_REGISTERS                                                                 \
    , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",    \
        "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4", "k5",  \
        "k6", "k7"
#else
#define SENNIT_JUMP_WIDE_REGISTERS
#endif
#define SENNIT_JUMP_CLOBBERS                                                                       \
    "rax", "rbx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1",     \
        "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", \
        "xmm13", "xmm14", "xmm15", "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)",     \
        "st(7)", "memory", "cc" SENNIT_JUMP_WIDE_REGISTERS

[[gnu::always_inline]] inline void jump(void** from_sp, void* to_sp) noexcept {
    asm volatile(SENNIT_JUMP_FROM SENNIT_JUMP_TO
                 : [from] "+D"(from_sp), [to] "+S"(to_sp)
                 :
                 : "rcx", SENNIT_JUMP_CLOBBERS);
}

// Like jump, and passes this side's saved stack pointer to the other side in a register. Returns
// the value that the side that jumps back passes, through this function or jump_telling. So the
// stack pointer of the other side need not be read from memory that is found through the stack.
[[gnu::always_inline]] inline void* jump_told(void** from_sp, void* to_sp) noexcept {
    void* told;
    asm volatile(SENNIT_JUMP_FROM "movq %%rsp, %[told]\n\t" SENNIT_JUMP_TO
                 : [from] "+D"(from_sp), [to] "+S"(to_sp), [told] "=&c"(told)
                 :
                 : SENNIT_JUMP_CLOBBERS);
    return told;
}

// Like jump_told, but passes `what` to the other side.
[[gnu::always_inline]] inline void* jump_telling(void** from_sp, void* to_sp, void* what) noexcept {
    asm volatile(SENNIT_JUMP_FROM SENNIT_JUMP_TO
                 : [from] "+D"(from_sp), [to] "+S"(to_sp), "+c"(what)
                 :
                 : SENNIT_JUMP_CLOBBERS);
    return what;
}

#undef SENNIT_JUMP_FROM
#undef SENNIT_JUMP_LANDING
#undef SENNIT_JUMP_TO
#undef SENNIT_JUMP_WIDE_REGISTERS
#undef SENNIT_JUMP_CLOBBERS

} // namespace sennit::sys
