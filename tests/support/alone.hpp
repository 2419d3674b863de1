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
// single-threaded. Registers the thread, as a lock does: a worker that was parked and took no lock
// since is not registered, and never becomes exclusive.
inline bool exclusive_now() {
    if (sennit::base::begin_exclusive()) {
        sennit::base::end_exclusive();
        return true;
    }
    if (!sennit::base::this_thread_registered()) sennit::base::register_this_thread();
    return false;
}
