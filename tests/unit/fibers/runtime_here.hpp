// SPDX-License-Identifier: Apache-2.0
// Which runtime the caller runs in, asked anew at each call.
#pragma once

#include <sennit/detail/core/verbs.hpp>
#include <sennit/runtime.hpp>

inline bool is_in(sennit::runtime& one) {
    return sennit::sched::current_runtime() == &one.core();
}
