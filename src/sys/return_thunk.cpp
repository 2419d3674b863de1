// SPDX-License-Identifier: Apache-2.0
#include "sys/return_thunk.hpp"

#if defined(__x86_64__)

// %r11 carries no value at a return. `notrack`: the target is not a landing point of control-flow
// protection. Weak, because the program may have its own: GCC emits a thunk for code that is
// compiled with -mfunction-return=thunk.
extern "C" {
[[gnu::naked, gnu::used, gnu::weak, gnu::visibility("hidden")]] void __x86_return_thunk() {
    asm("popq %r11\n\tnotrack jmpq *%r11");
}
}

#endif

void sennit::sys::retain_return_thunk() noexcept {}
