// SPDX-License-Identifier: Apache-2.0
// Tells in which runtime the caller runs. Each call determines the runtime anew.
#pragma once

#include <sennit/detail/core/verbs.hpp>
#include <sennit/runtime.hpp>

inline bool is_in(sennit::runtime& one) {
    return sennit::sched::current_runtime() == &one.core();
}
