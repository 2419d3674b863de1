// SPDX-License-Identifier: Apache-2.0
#include "faults.hpp"

#include "sennit/detail/sys/atfork.hpp"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <ostream>
#include <utility>

namespace faults {

namespace {

std::atomic<int> refused_kind{-1};
std::atomic<bool> refuses_all{false};
std::atomic<long> left{0}; // the number of requests up to the refused request
std::atomic<long> refusals{0};

std::atomic<long> allocations{0};
std::atomic<long> mappings{0};
std::atomic<long> mapped_bytes{0};
std::atomic<long> threads{0}; // threads that were created and not joined yet

bool refused(request what) {
    if (refused_kind.load() != static_cast<int>(what)) return false;
    const long now = left.fetch_sub(1);
    if (now > 1 || (now < 1 && !refuses_all.load())) return false;
    ++refusals;
    return true;
}

// True if the deadline at this address, a time of CLOCK_MONOTONIC, has passed. 0: no deadline.
bool passed(long address) noexcept {
    const auto* deadline = std::bit_cast<const timespec*>(address);
    if (!deadline) return false;
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::pair(now.tv_sec, now.tv_nsec) >= std::pair(deadline->tv_sec, deadline->tv_nsec);
}

void* allocate(std::size_t size, std::size_t alignment) noexcept {
    if (refused(request::allocation)) return nullptr;
    void* memory =
        alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__
            ? std::malloc(size ? size : 1)
            : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (memory) ++allocations;
    return memory;
}

void* allocate_or_throw(std::size_t size, std::size_t alignment) {
    if (void* memory = allocate(size, alignment)) return memory;
    throw std::bad_alloc();
}

void release(void* memory) noexcept {
    if (memory) --allocations;
    std::free(memory);
}

} // namespace

const char* name(request what) {
    switch (what) {
    case request::allocation:
        return "allocation";
    case request::mapping:
        return "mapping";
    case request::thread_creation:
        return "thread";
    case request::advice:
        return "advice";
    case request::protection:
        return "protection";
    case request::fork_handler:
        return "fork_handler";
    case request::sleep:
        return "sleep";
    case request::barrier:
        return "barrier";
    case request::affinity:
        return "affinity";
    case request::process:
        return "process";
    }
    return "?";
}

const char* name(extent how) {
    return how == extent::one ? "one" : "all";
}

void refuse(request what, long nth, extent how) {
    refused_kind = -1;
    refusals = 0;
    left = nth;
    refuses_all = how == extent::all_from_there;
    refused_kind = static_cast<int>(what);
}

long so_far() {
    return refusals;
}

long stop() {
    refused_kind = -1;
    return refusals;
}

std::ostream& operator<<(std::ostream& out, const account& what) {
    return out << what.allocations << " allocations, " << what.mappings << " mappings of "
               << what.mapped_bytes << " bytes, " << what.threads << " threads";
}

account balance() {
    return {allocations, mappings, mapped_bytes, threads};
}

} // namespace faults

// ---- the wrapped system calls: the library's `mmap` is `__wrap_mmap` here, `__real_mmap` is
// libc's -----------------

extern "C" {

void* __real_mmap(void*, size_t, int, int, int, off_t);
void* __wrap_mmap(void* address, size_t length, int protection, int flags, int file, off_t offset) {
    if (faults::refused(faults::request::mapping)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    void* memory = __real_mmap(address, length, protection, flags, file, offset);
    if (memory != MAP_FAILED) {
        ++faults::mappings;
        faults::mapped_bytes += static_cast<long>(length);
    }
    return memory;
}

int __real_munmap(void*, size_t);
int __wrap_munmap(void* address, size_t length) {
    --faults::mappings;
    faults::mapped_bytes -= static_cast<long>(length);
    return __real_munmap(address, length);
}

int __real_madvise(void*, size_t, int);
int __wrap_madvise(void* address, size_t length, int advice) {
    if (!faults::refused(faults::request::advice)) return __real_madvise(address, length, advice);
    errno = EINVAL;
    return -1;
}

int __real_mprotect(void*, size_t, int);
int __wrap_mprotect(void* address, size_t length, int protection) {
    if (!faults::refused(faults::request::protection))
        return __real_mprotect(address, length, protection);
    errno = ENOMEM;
    return -1;
}

int __real_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                          void* (*entry)(void*), void* argument) {
    if (faults::refused(faults::request::thread_creation)) return EAGAIN;
    const int error = __real_pthread_create(thread, attributes, entry, argument);
    if (error == 0) ++faults::threads;
    return error;
}

int __real_pthread_join(pthread_t, void**);
int __wrap_pthread_join(pthread_t thread, void** result) {
    const int error = __real_pthread_join(thread, result);
    if (error == 0) --faults::threads;
    return error;
}

int __real_pthread_atfork(void (*)(), void (*)(), void (*)());
int __wrap_pthread_atfork(void (*before)(), void (*parent)(), void (*child)()) {
    // The library registers its fork handler before main, when no test has begun. That request is
    // refused, so that a test meets the library's next attempt. (Sanitizers register handlers,
    // too.)
    static constinit bool before_main = true;
    if (before_main && before == &sennit::base::atfork_lock::lock_all) {
        before_main = false;
        return ENOMEM;
    }
    if (faults::refused(faults::request::fork_handler)) return ENOMEM;
    return __real_pthread_atfork(before, parent, child);
}

int __real_pthread_setaffinity_np(pthread_t, size_t, const cpu_set_t*);
int __wrap_pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t* processors) {
    if (faults::refused(faults::request::affinity)) return EPERM;
    return __real_pthread_setaffinity_np(thread, bytes, processors);
}

int __real_sched_getaffinity(pid_t, size_t, cpu_set_t*);
int __wrap_sched_getaffinity(pid_t process, size_t bytes, cpu_set_t* processors) {
    if (!faults::refused(faults::request::affinity))
        return __real_sched_getaffinity(process, bytes, processors);
    errno = EPERM;
    return -1;
}

// Calls have up to six arguments. A shorter call passes arbitrary values in the remaining
// arguments, and the kernel does not read them.
long __real_syscall(long, long, long, long, long, long, long);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f) {
    const long command = b & ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
    const bool sleeps =
        number == SYS_futex && (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET);
    if (sleeps && faults::refused(faults::request::sleep)) {
        // The kernel reports a deadline that has passed. Without that, a worker whose sleeps are
        // all refused never sees its timer.
        errno = command == FUTEX_WAIT_BITSET && faults::passed(d) ? ETIMEDOUT : EINTR;
        return -1;
    }
    if (number == SYS_membarrier && faults::refused(faults::request::barrier)) {
        errno = ENOMEM;
        return -1;
    }
    if (number == 434 && faults::refused(faults::request::process)) { // pidfd_open
        errno = ENOSYS;
        return -1;
    }
    return __real_syscall(number, a, b, c, d, e, f);
}

} // extern "C"

// ---- operator new, in all its forms: a sanitizer's own array and nothrow forms would not come by
// here ---------------

#ifndef __clang__
#pragma GCC diagnostic ignored                                                                     \
    "-Wmismatched-new-delete" // g++ inlines one of a pair and misses the other
#endif

using alignment = std::align_val_t;
constexpr std::size_t plain = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

void* operator new(std::size_t size) {
    return faults::allocate_or_throw(size, plain);
}
void* operator new[](std::size_t size) {
    return faults::allocate_or_throw(size, plain);
}
void* operator new(std::size_t size, alignment unit) {
    return faults::allocate_or_throw(size, static_cast<std::size_t>(unit));
}
void* operator new[](std::size_t size, alignment unit) {
    return faults::allocate_or_throw(size, static_cast<std::size_t>(unit));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return faults::allocate(size, plain);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return faults::allocate(size, plain);
}
void* operator new(std::size_t size, alignment unit, const std::nothrow_t&) noexcept {
    return faults::allocate(size, static_cast<std::size_t>(unit));
}
void* operator new[](std::size_t size, alignment unit, const std::nothrow_t&) noexcept {
    return faults::allocate(size, static_cast<std::size_t>(unit));
}

void operator delete(void* memory) noexcept {
    faults::release(memory);
}
void operator delete[](void* memory) noexcept {
    faults::release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    faults::release(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    faults::release(memory);
}
void operator delete(void* memory, alignment) noexcept {
    faults::release(memory);
}
void operator delete[](void* memory, alignment) noexcept {
    faults::release(memory);
}
void operator delete(void* memory, std::size_t, alignment) noexcept {
    faults::release(memory);
}
void operator delete[](void* memory, std::size_t, alignment) noexcept {
    faults::release(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
    faults::release(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
    faults::release(memory);
}
void operator delete(void* memory, alignment, const std::nothrow_t&) noexcept {
    faults::release(memory);
}
void operator delete[](void* memory, alignment, const std::nothrow_t&) noexcept {
    faults::release(memory);
}
