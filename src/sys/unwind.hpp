// SPDX-License-Identifier: Apache-2.0
// The return addresses on a stack that is not running.
#pragma once

#include "sys/switch.hpp"

#include <cstddef>

namespace sennit::sys {

// Writes up to `most` addresses to `to`, innermost first, and returns how many. `from` was left by
// switch_stacks and stays left meanwhile; its stack is [low, high). Takes no lock but the dynamic
// loader's, allocates nothing.
std::size_t unwind(const machine_context& from, const std::byte* low, const std::byte* high,
                   const void** to, std::size_t most) noexcept;

// Bytes of that stack in use.
std::size_t depth(const machine_context& from, const std::byte* high) noexcept;

} // namespace sennit::sys
