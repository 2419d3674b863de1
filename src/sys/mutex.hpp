// SPDX-License-Identifier: Apache-2.0
// A lock for sections that may make system calls: std::mutex, and under the explorer a lock that
// the explorer can observe.
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
