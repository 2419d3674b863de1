// SPDX-License-Identifier: Apache-2.0
// Whether the calling thread does without locked instructions just now.
#pragma once

#include "sennit/detail/sys/single_threaded.hpp"

inline bool exclusive_now() {
    const bool alone = sennit::base::begin_exclusive();
    if (alone) sennit::base::end_exclusive();
    return alone;
}
