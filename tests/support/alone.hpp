// SPDX-License-Identifier: Apache-2.0
// True if the calling thread uses no locked instructions at present, because the process is
// single-threaded.
#pragma once

#include "sennit/detail/sys/single_threaded.hpp"

inline bool exclusive_now() {
    const bool alone = sennit::base::begin_exclusive();
    if (alone) sennit::base::end_exclusive();
    return alone;
}
