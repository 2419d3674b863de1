// SPDX-License-Identifier: Apache-2.0
#include "sennit/base/jump_return.hpp"

#if defined(__x86_64__)

// %r11 carries nothing at a return. `notrack`: where it goes is no landing point of control-flow protection.
asm(R"(
    .pushsection .text
    .weak __x86_return_thunk
    .hidden __x86_return_thunk
    .type __x86_return_thunk, @function
    .p2align 4
__x86_return_thunk:
    .cfi_startproc
    popq %r11
    .cfi_adjust_cfa_offset -8
    .cfi_register %rip, %r11
    notrack jmpq *%r11
    .cfi_endproc
    .size __x86_return_thunk, . - __x86_return_thunk
    .popsection
)");

#endif
