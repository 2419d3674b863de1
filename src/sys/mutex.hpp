// SPDX-License-Identifier: Apache-2.0
// The lock for sections that may call the system: the standard's, and under the explorer one that
// it can see.
#pragma once

#ifdef SENNIT_SIMULATOR
#include "sennit/detail/sys/spin_lock.hpp"
#else
#include <mutex>
#endif

namespace sennit::sys {

#ifdef SENNIT_SIMULATOR
using mutex = base::spin_lock;
#else
using mutex = std::mutex;
#endif

} // namespace sennit::sys
