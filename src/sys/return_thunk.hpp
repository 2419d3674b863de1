// SPDX-License-Identifier: Apache-2.0
// The system's half of sennit/detail/base/return_thunk.hpp.
#pragma once

namespace sennit::sys {

// Does nothing: by the call a linker that optimises knows of the thunk, which else only generated
// code names. A worker begins with it.
void retain_return_thunk() noexcept;

} // namespace sennit::sys
