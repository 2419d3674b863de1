// SPDX-License-Identifier: Apache-2.0
// Sees to it that ready work does not wait for ever behind a worker that does not get on: in a long
// loop, or in a call that blocks its thread. Where nobody else comes for the work it calls a
// relief: one more thread, which runs what is ready as any worker does, until the worker that was
// stuck gets on.
//
// Threads. One for the process, while there is a runtime that is watched; it looks every
// `tuning::watch_period_ns` while any worker is awake, and sleeps while all are in bed. `notice` is
// for workers, the rest for runtimes.
//
// When somebody is stuck. A worker that is out of bed and whose counters (runnables, exchanges,
// steals, sleeps: the worker writes them anyway) have not moved since the last look, and whose
// thread has worked meanwhile, or is blocked at this moment. One that has only lost its processor
// to others is not: another thread would be of no use.
//
// Whom it looks at. All workers and all reliefs but the inactive ones. A relief that was told to
// leave works until the piece of work that it is in ends: that piece may never end, and may have
// put more work behind it.
//
// When a relief is called. No worker is parked, and something is ready that a stuck worker had to
// come to, or that all have to come to (the shared queue, timers that are due, forks of suspended
// contexts) while all that stay are stuck. Where a worker is parked the protocol of sleepers sees
// to it (src/core/README.md), and faster; but for one case, where the worker that was woken to
// watch finds something else first, and that lasts: so a parked worker is woken, and looks. There
// are never more reliefs on duty than threads that are stuck: so as many as the runtime has workers
// make progress.
//
// What busy workers are asked. Where no worker is parked, they come to timers, the shared queue,
// their inboxes and the queues of stuck workers at their fair turns. If something waits there at a
// look, their next pick is a fair turn.
//
// When no relief is to be had. While work is ready behind stuck workers, none makes progress, and
// all reliefs that the options allow are stuck, too, for `tuning::starvation_ns`: standard error
// says so once for each runtime, with what each worker runs.
//
// What a relief is: spare_worker.cpp.
//
// Tested by tests/unit/core/watchdog_test.cpp; the reliefs are explored by tests/sim.
#pragma once

#include "core/policy/tuning.hpp"
#include "sennit/detail/base/atomic.hpp"
#include "sys/kernel_threads.hpp"

#include <cstdint>
#include <string>

namespace sennit::sched {

class runtime_core;
class worker;

class watchdog {
public:
    // A runtime that is watched is in the registry from here on; or will leave it. The first one
    // starts the thread. If the system refuses that, standard error says so once in a process, and
    // nothing is watched until the next one.
    static bool enroll() noexcept;   // false: no memory, and `withdraw` is not to be called
    static void withdraw() noexcept; // the last one ends the thread

    // A worker is out of bed. One load while the watchdog looks.
    static void notice() noexcept {
        if (!tuning::simulated && dozing_.load() != 0) [[unlikely]]
            wake_up();
    }

    // Writes the report of a starvation; called with the registry's lock held. Null: there is none.
    using describer = std::string (*)(runtime_core& of);
    static void set_describer(describer what) noexcept;

    // One look at one runtime, with the registry's lock held; the explorer's scenarios call it.
    // False: all its workers are parked.
    static bool look_at(runtime_core& one) noexcept;

    // The thread; 0: there is none.
    static sys::os_thread_id os_thread() noexcept { return os_thread_.load(); }

private:
    struct state;
    static state* here() noexcept;
    static void thread_main(void* self) noexcept;
    static void wake_up() noexcept;
    static bool look() noexcept;
    struct census;
    static census count(runtime_core& of) noexcept;
    static void note_starvation(runtime_core& of, bool starves) noexcept;
    static bool is_stuck(worker& one) noexcept;
    static void drain_pinned_queue(worker& spare) noexcept;
    static void tell_once(const char* what) noexcept;

    // 1: the watchdog sleeps until a worker leaves its bed. It stores 1, then looks at the beds
    // again; who leaves a bed clears its bit in the idle map, or had it cleared, then reads this:
    // sequentially consistent on both sides, so one of them sees the other.
    static base::atomic<std::uint32_t> dozing_;
    static base::atomic<sys::os_thread_id> os_thread_;
    static base::atomic<describer> describe_;
};

} // namespace sennit::sched
