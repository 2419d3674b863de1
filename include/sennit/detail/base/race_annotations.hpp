// SPDX-License-Identifier: Apache-2.0
// Marks the places where plain memory passes from one thread to another: the write, and the read in
// the other thread. The explorer (tests/sim) checks that a happens-before edge orders the write
// before the read. In every other build the marks compile to nothing.
#pragma once

#ifdef SENNIT_SIMULATOR
namespace sennit::sim::hooks {
void annotate_read(const void* address) noexcept;
void annotate_write(const void* address) noexcept;
} // namespace sennit::sim::hooks
#endif

namespace sennit::base {

#ifdef SENNIT_SIMULATOR
inline void annotate_read(const void* address) noexcept {
    sim::hooks::annotate_read(address);
}
inline void annotate_write(const void* address) noexcept {
    sim::hooks::annotate_write(address);
}
#else
constexpr void annotate_read(const void*) noexcept {}
constexpr void annotate_write(const void*) noexcept {}
#endif

} // namespace sennit::base
