// SPDX-License-Identifier: Apache-2.0
// The address of the code that runs, for reports: where something was made. One instruction.
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

} // namespace sennit::sys
