// SPDX-License-Identifier: Apache-2.0
// The name of the running fiber, for the line that a failed check prints.
#pragma once

#include <cstddef>

namespace sennit::sys {

// Writes a phrase such as "fiber 12 'reader', " into `text`, or nothing if the caller runs in no
// fiber. It must not allocate: base::fail calls it right before the program ends.
using caller_describer = void (*)(char* text, std::size_t size) noexcept;

// The engine sets it once for the process; the last call counts.
void set_caller_describer(caller_describer describe) noexcept;

} // namespace sennit::sys
