// SPDX-License-Identifier: Apache-2.0
// The OS thread of a worker, and the addresses that other threads need to find out where it runs.
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
    // The kernel's id of the thread; 0 before it has begun. Set once by the thread.
    base::atomic<sys::os_thread_id> os_id{0};
    // Set once by the thread; valid until all workers have ended.
    base::atomic<sys::worker_tls*> tls{nullptr};
    sys::exception_globals* exceptions = nullptr; // Own thread.
    sys::machine_context own_stack;               // Own thread: the context of the thread's stack.
    sys::thread_suspender suspender;              // For dumps, which halt the thread.
};

} // namespace sennit::sched
