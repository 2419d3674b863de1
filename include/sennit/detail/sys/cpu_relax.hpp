// SPDX-License-Identifier: Apache-2.0
// Tells the processor that this thread spins. That saves power and leaves the core to its sibling.
#pragma once

#ifdef SENNIT_SIMULATOR
namespace sennit::sim::hooks {
void pause() noexcept;
}
#endif

namespace sennit::sys {

inline void cpu_relax() noexcept {
#if defined(SENNIT_SIMULATOR)
    sim::hooks::pause(); // lets the explorer run other threads
#elif defined(__x86_64__)
    asm volatile("pause");
#elif defined(__aarch64__)
    asm volatile("isb"); // longer than `yield`, which most cores ignore
#endif
}

} // namespace sennit::sys
