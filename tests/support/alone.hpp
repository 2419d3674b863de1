// SPDX-License-Identifier: Apache-2.0
// Whether the calling thread does without locked instructions just now.
#pragma once

#include "sennit/base/company.hpp"

inline bool alone_now() {
    const bool alone = sennit::base::enter_alone();
    if (alone) sennit::base::leave_alone();
    return alone;
}
