// SPDX-License-Identifier: Apache-2.0
// Where something was made, for reports.
#pragma once

#include "sennit/detail/sys/here.hpp"

namespace sennit::sched {

using sys::here;

} // namespace sennit::sched
