// SPDX-License-Identifier: Apache-2.0
// Whether the calling thread does without locked instructions just now.
#pragma once

#include "sennit/base/company.hpp"

inline bool exclusive_now() {
    const bool alone = sennit::base::begin_exclusive();
    if (alone) sennit::base::end_exclusive();
    return alone;
}
