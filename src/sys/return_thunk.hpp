// SPDX-License-Identifier: Apache-2.0
// The platform half of sennit/detail/base/return_thunk.hpp.
#pragma once

namespace sennit::sys {

// Does nothing. The call makes the thunk known to an optimising linker; otherwise only generated
// code names it. A worker calls it when it starts.
void retain_return_thunk() noexcept;

} // namespace sennit::sys
