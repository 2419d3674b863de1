// SPDX-License-Identifier: Apache-2.0
// Whether threads elide locked instructions.
#pragma once

#include "sennit/detail/sys/single_threaded.hpp"
#include "sys/membarrier.hpp"

// True if a worker that works alone with the library becomes exclusive sooner or later.
inline bool elision_is_on() {
#if defined(SENNIT_NO_LOCK_ELISION)
    return false;
#elif defined(SENNIT_SWITCHED_LOCK_ELISION)
    return sennit::base::own_registration() != nullptr && sennit::sys::barrier_available();
#else
    return sennit::sys::barrier_available();
#endif
}

// True if the calling thread uses no locked instructions at present, because the process is
// single-threaded.
inline bool exclusive_now() {
    const bool alone = sennit::base::begin_exclusive();
    if (alone) sennit::base::end_exclusive();
    return alone;
}
