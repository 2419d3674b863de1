// SPDX-License-Identifier: Apache-2.0
#include "sys/held_mutex.hpp"

#ifdef SENNIT_REPORT_HELD_MUTEX

#include "sennit/detail/base/atomic.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <utility>

namespace sennit::sys {

namespace {

// Trivial, and with the initial-exec model, whose access allocates nothing: a thread's first lock
// may be malloc's.
[[gnu::tls_model("initial-exec")]] thread_local std::int32_t held = 0;
[[gnu::tls_model("initial-exec")]] thread_local const void* locker = nullptr;

// The libc function that the function of this name replaces. The first call looks it up; libc does
// that without a lock that passes through this file. Two threads that look it up concurrently find
// the same address.
template <class F>
class libc_function {
public:
    constexpr explicit libc_function(const char* name) noexcept : name_(name) {}
    template <class... A>
    int operator()(A... arguments) noexcept {
        F* real = found_.load_rlx(); // orders nothing: code is never written
        if (!real) {
            // SAFETY: POSIX promises that this conversion works.
            real = reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name_));
            if (!real) std::abort(); // every libc with threads has it
            found_.store_rlx(real);  // orders nothing: code is never written
        }
        return real(arguments...);
    }

private:
    const char* const name_;
    base::atomic<F*> found_{nullptr};
};

int counted(int status, const void* caller) noexcept {
    if (status == 0 || status == EOWNERDEAD) {
        ++held;
        locker = caller;
    }
    return status;
}

} // namespace

std::int32_t exchange_held_mutexes(std::int32_t count) noexcept {
    return std::exchange(held, count);
}

const void* last_mutex_locker() noexcept {
    return locker;
}

} // namespace sennit::sys

// Exported, so that calls of other libraries pass through here, too.
#define SENNIT_INTERPOSED extern "C" [[gnu::visibility("default")]] int

SENNIT_INTERPOSED pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
    static constinit sennit::sys::libc_function<int(pthread_mutex_t*)> real("pthread_mutex_lock");
    return sennit::sys::counted(real(mutex), __builtin_return_address(0));
}

SENNIT_INTERPOSED pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
    static constinit sennit::sys::libc_function<int(pthread_mutex_t*)> real(
        "pthread_mutex_trylock");
    return sennit::sys::counted(real(mutex), __builtin_return_address(0));
}

SENNIT_INTERPOSED pthread_mutex_timedlock(pthread_mutex_t* mutex,
                                          const timespec* deadline) noexcept {
    static constinit sennit::sys::libc_function<int(pthread_mutex_t*, const timespec*)> real(
        "pthread_mutex_timedlock");
    return sennit::sys::counted(real(mutex, deadline), __builtin_return_address(0));
}

SENNIT_INTERPOSED pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                          const timespec* deadline) noexcept {
    static constinit sennit::sys::libc_function<int(pthread_mutex_t*, clockid_t, const timespec*)>
        real("pthread_mutex_clocklock");
    return sennit::sys::counted(real(mutex, clock, deadline), __builtin_return_address(0));
}

SENNIT_INTERPOSED pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
    static constinit sennit::sys::libc_function<int(pthread_mutex_t*)> real("pthread_mutex_unlock");
    const int status = real(mutex);
    if (status == 0) --sennit::sys::held;
    return status;
}

#endif
