// SPDX-License-Identifier: Apache-2.0
// The address of the running code, which reports use to say where an object was made.
#pragma once

#include "sennit/detail/sys/here.hpp"

namespace sennit::sched {

using sys::here;

} // namespace sennit::sched
