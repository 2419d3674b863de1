// SPDX-License-Identifier: Apache-2.0
// The registration of each thread (sennit/detail/sys/single_threaded.hpp) as a thread-local, and
// its end with the thread. The explorer keeps the registrations of its simulated threads itself.
#include "sys/single_threaded.hpp"

#include <pthread.h>

#ifndef SENNIT_NO_LOCK_ELISION

#ifdef SENNIT_SWITCHED_LOCK_ELISION

namespace sennit::base {

namespace {
constinit thread_local thread_registration registration_of_thread;
// Written before the process has a second thread.
constinit bool elision_on = false;
} // namespace

thread_registration* own_registration() noexcept {
    return elision_on ? &registration_of_thread : nullptr;
}

void switch_lock_elision_on() noexcept {
    elision_on = true;
}

} // namespace sennit::base

#else

extern "C" {
constinit thread_local sennit::base::thread_registration sennit_thread_registration{};
}

#endif

namespace sennit::sys {

// If the system has no more keys, exclusive mode never returns after such a thread has registered.
// If several threads create the key concurrently, one of them keeps its key. No thread waits for
// another, because the other thread may be missing in a child of fork().
void unregister_at_thread_end() noexcept {
    // the key plus one; 0 before the key is created
    static constinit base::atomic<std::uint64_t> made{0};
    std::uint64_t one = made.load();
    if (one == 0) {
        pthread_key_t fresh;
        if (::pthread_key_create(&fresh, [](void*) { base::unregister_this_thread(); }) != 0)
            return;
        if (made.cas(one, std::uint64_t{fresh} + 1))
            one = std::uint64_t{fresh} + 1;
        else
            ::pthread_key_delete(fresh);
    }
    // any value that is not null
    ::pthread_setspecific(static_cast<pthread_key_t>(one - 1), &process_mode);
}

} // namespace sennit::sys

#endif
