// SPDX-License-Identifier: Apache-2.0
// The address of the code that runs, for reports (where something was made), and of the stack. One
// instruction each.
#pragma once

namespace sennit::sys {

// In an always-inline function: an address in its caller, which addr2line -i knows.
[[gnu::always_inline]] inline const void* here() noexcept {
    const void* address;
#if defined(__x86_64__)
    asm volatile("leaq 0(%%rip), %0" : "=r"(address));
#elif defined(__aarch64__)
    asm volatile("adr %0, ." : "=r"(address));
#else
    address = nullptr;
#endif
    return address;
}

// Somewhere in the caller's stack frame. Not __builtin_frame_address: that makes clang keep a frame
// pointer, which is one more load to wait for after a jump.
[[gnu::always_inline]] inline const void* stack_pointer() noexcept {
#if defined(__x86_64__)
    const void* address;
    asm volatile("movq %%rsp, %0" : "=r"(address));
    return address;
#else
    return __builtin_frame_address(0);
#endif
}

} // namespace sennit::sys
