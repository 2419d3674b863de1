// SPDX-License-Identifier: Apache-2.0
// An operating-system thread, and the operations of a thread on itself.
#pragma once

#include "sennit/detail/base/check.hpp"

#include <pthread.h>

#include <system_error>
#include <utility>

namespace sennit::sys {

class thread {
public:
    thread() noexcept = default;
    // Runs `entry(argument)`. Throws std::system_error if the system refuses the thread,
    // std::bad_alloc if it refuses memory.
    thread(void (*entry)(void*) noexcept, void* argument);
    thread(thread&& other) noexcept
        : handle_(other.handle_), joinable_(std::exchange(other.joinable_, false)) {}
    thread& operator=(thread&& other) noexcept {
        SENNIT_CHECK(!joinable_, "[SNT-903] a thread is overwritten before it was joined; this is "
                                 "a bug in Sennit: please report it");
        handle_ = other.handle_;
        joinable_ = std::exchange(other.joinable_, false);
        return *this;
    }
    ~thread() {
        SENNIT_CHECK(!joinable_, "[SNT-904] a thread is destroyed before it was joined; this is a "
                                 "bug in Sennit: please report it");
    }

    bool joinable() const noexcept { return joinable_; }
    void join() noexcept;
    // The thread ends by itself; nothing waits for it.
    void detach() noexcept;
    pthread_t handle() const noexcept { return handle_; } // requires a joinable thread
    // For a child of fork(), in which the thread does not exist.
    void disown() noexcept { joinable_ = false; }

    // Names the calling thread (cut to 15 characters).
    static void set_name(const char* name) noexcept;
    // Applies to the calling thread and the threads that it creates: their sleeps end on time, and
    // not up to 50 us later as usual.
    static void minimize_timer_slack() noexcept;

private:
    pthread_t handle_{};
    bool joinable_ = false;
};

// Binds the calling thread to one processor. The error says why the system refused.
std::error_code pin_this_thread(unsigned cpu) noexcept;

void yield_thread() noexcept;

// Installs the handlers that count the forks between the first process and this one. It must have
// been called before the fork. Throws std::bad_alloc.
void install_atfork_handlers();
unsigned fork_generation() noexcept;

} // namespace sennit::sys
