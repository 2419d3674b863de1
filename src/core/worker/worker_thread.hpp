// SPDX-License-Identifier: Apache-2.0
// The OS thread of a worker, and the addresses that other threads need to find out where it runs.
// While the worker is lent to a guest (guest_thread.cpp), they are the guest's.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/sys/worker_tls.hpp"
#include "sys/kernel_threads.hpp"
#include "sys/switch.hpp"
#include "sys/thread.hpp"
#include "sys/thread_suspender.hpp"

namespace sennit::sched {

struct worker_thread {
    sys::thread handle;
    // The thread that runs the worker, for the system's calls. Set when the thread starts.
    base::atomic<pthread_t> runs_on{};
    // The kernel's id of that thread; 0 before it has begun.
    base::atomic<sys::os_thread_id> os_id{0};
    // That thread's line; valid until all workers have ended.
    base::atomic<sys::worker_tls*> tls{nullptr};
    sys::exception_globals* exceptions = nullptr; // Own thread.
    sys::machine_context own_stack;               // Own thread: the context of the thread's stack.
    sys::thread_suspender suspender;              // For dumps, which halt the thread.
};

} // namespace sennit::sched
