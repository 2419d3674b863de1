// SPDX-License-Identifier: Apache-2.0
// The return addresses on a stack that is not running.
#pragma once

#include "sys/switch.hpp"

#include <cstddef>

namespace sennit::sys {

// Writes up to `most` addresses to `to`, innermost first, and returns their number. `from` was
// saved by switch_stacks and does not run meanwhile; its stack is [low, high). Takes no lock except
// the dynamic loader's, allocates nothing.
std::size_t unwind(const machine_context& from, const std::byte* low, const std::byte* high,
                   const void** to, std::size_t most) noexcept;

// The number of bytes in use on that stack.
std::size_t depth(const machine_context& from, const std::byte* high) noexcept;

} // namespace sennit::sys
