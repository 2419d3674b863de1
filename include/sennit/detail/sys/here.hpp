// SPDX-License-Identifier: Apache-2.0
// The address of the running code, which reports use to say where an object was made, and an
// address in the running stack. One instruction each.
#pragma once

namespace sennit::sys {

// Returns the address of the current instruction. In an always-inline function that address lies in
// its caller, and addr2line -i resolves it.
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

// Returns an address in the caller's stack frame. It does not use __builtin_frame_address on
// x86-64, because that makes clang keep a frame pointer: one more load that the processor must wait
// for after a jump.
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
