// SPDX-License-Identifier: Apache-2.0
#include "sys/thread.hpp"

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/check.hpp"
#include "sennit/detail/sys/atfork.hpp"
#include "sennit/detail/sys/single_threaded.hpp"

#include <sched.h>
#include <sys/prctl.h>

#include <cstring>
#include <memory>
#include <new>
#include <utility>

namespace sennit::sys {

namespace {

struct start {
    void (*entry)(void*) noexcept;
    void* argument;
};

void* run(void* given) {
    const start what = *std::unique_ptr<start>(static_cast<start*>(given));
    what.entry(what.argument);
    return nullptr;
}

base::atomic<unsigned> generation{0};

} // namespace

thread::thread(void (*entry)(void*) noexcept, void* argument) {
    auto what = std::make_unique<start>(start{entry, argument});
    if (const int error = pthread_create(&handle_, nullptr, &run, what.get()))
        throw std::system_error(
            error, std::generic_category(),
            "sennit: [SNT-019] cannot create a worker thread; raise the limit of threads (ulimit "
            "-u, the cgroup's pids.max) or ask for fewer workers");
    (void)what.release(); // the thread owns it now
    joinable_ = true;
}

void thread::join() noexcept {
    if (!std::exchange(joinable_, false)) return;
    SENNIT_CHECK(
        pthread_join(handle_, nullptr) == 0,
        "[SNT-902] a worker thread cannot be joined; this is a bug in Sennit: please report it");
}

void thread::detach() noexcept {
    if (std::exchange(joinable_, false)) ::pthread_detach(handle_);
}

void thread::minimize_timer_slack() noexcept {
    ::prctl(PR_SET_TIMERSLACK, 1UL); // if the system refuses, sleeps are as usual
}

void thread::set_name(const char* name) noexcept {
    char cut[16];
    std::strncpy(cut, name, sizeof cut - 1);
    cut[sizeof cut - 1] = '\0';
    pthread_setname_np(pthread_self(), cut);
}

std::error_code pin_this_thread(unsigned cpu) noexcept {
    const std::size_t bytes = CPU_ALLOC_SIZE(cpu + 1);
    cpu_set_t* mask = CPU_ALLOC(cpu + 1);
    if (!mask) return std::make_error_code(std::errc::not_enough_memory);
    CPU_ZERO_S(bytes, mask);
    CPU_SET_S(cpu, bytes, mask);
    const int error = pthread_setaffinity_np(pthread_self(), bytes, mask);
    CPU_FREE(mask);
    return {error, std::generic_category()};
}

void yield_thread() noexcept {
    sched_yield();
}

void install_atfork_handlers() {
    // A throw leaves the variable uninitialised, so that the next call tries again.
    [[maybe_unused]] static const bool registered = [] {
        using base::atfork_lock;
        const auto in_child = [] {
            // First, because the registration guards the other locks.
            base::reset_registration_after_fork();
            atfork_lock::unlock_all();
            generation.fetch_add(1);
        };
        if (pthread_atfork(&atfork_lock::lock_all, &atfork_lock::unlock_all, in_child) != 0)
            throw std::bad_alloc();
        return true;
    }();
}

unsigned fork_generation() noexcept {
    return generation.load();
}

// Runs before main, where no other thread can fork during the first call. The child of such a fork
// would wait forever for the end of that call.
[[maybe_unused]] static const bool atfork_handlers_installed = []() noexcept {
    try {
        install_atfork_handlers();
        return true;
    } catch (const std::bad_alloc&) {
        return false; // a later caller tries again, and receives the exception
    }
}();

} // namespace sennit::sys
