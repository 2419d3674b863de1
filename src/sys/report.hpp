// SPDX-License-Identifier: Apache-2.0
// The last output of a failing program: writes text to standard error without allocation or locks.
// Async-signal-safe.
#pragma once

#include <initializer_list>

namespace sennit::sys {

void report(std::initializer_list<const char*> parts) noexcept;

} // namespace sennit::sys
