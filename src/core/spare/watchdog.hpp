// SPDX-License-Identifier: Apache-2.0
// The watchdog makes sure that ready work does not wait forever behind a stuck worker: one in a
// long loop, or in a call that blocks its thread. Where no other worker comes for the work, the
// watchdog activates a spare worker: one more thread, which runs ready tasks as any worker does,
// until the stuck worker makes progress.
//
// Threads. There is one watchdog thread for the process, while there is a watched runtime. It looks
// every `tuning::watch_period_ns` while any worker is awake, and sleeps while all are parked.
// Workers call `notice`; runtimes call the rest.
//
// Definition of stuck. A worker is stuck if it is awake, its counters have not moved since the last
// look, and its thread has used processor time meanwhile or is blocked at this moment. The counters
// are those of runnables, switches, steals and parks, which the worker writes anyway. A worker that
// has only lost its processor to other threads is not stuck: another thread would be of no use.
//
// Workers it looks at. The watchdog looks at all workers and all spare workers except the inactive
// ones. A spare worker that was told to leave works until its current task ends. That task may
// never end, and may have put more work behind it.
//
// When it activates a spare worker. No worker is parked, and one of two conditions holds: a task is
// ready that only a stuck worker would reach; or work is ready that all workers have to reach (the
// injector, due timers, forks of suspended contexts) while all workers that stay are stuck. Where a
// worker is parked, the parking protocol brings the work to it (src/core/README.md), and faster.
// There is one exception: a worker that was woken to become the sentinel may pick up a long task
// first, so there is no sentinel. The watchdog then wakes another parked worker. There are never
// more active spare workers than stuck threads, so as many workers make progress as the runtime has
// workers.
//
// Before it activates one, it requests a turn of each worker (`worker::request_turn`), and waits
// for `tuning::turn_wait_ns`. A fiber that only takes free locks yields at the next one
// (`yield_if_requested`), and then no spare worker is needed.
//
// Requests to busy workers. Where no worker is parked, the workers reach timers, the injector,
// their pinned queues and the queues of stuck workers at their global polls. If work waits there at
// a look, their next pick is a global poll.
//
// When no spare worker is available. The condition is that work is ready behind stuck workers, no
// worker makes progress, and all spare workers that the options allow are stuck, too, for
// `tuning::starvation_ns`. Then the watchdog reports it to standard error, once for each runtime,
// with the task of each worker.
//
// spare_worker.cpp describes spare workers. Tested by tests/unit/core/watchdog_test.cpp; tests/sim
// explores the spare workers.
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
    // Starts to watch the calling runtime, which is in the registry from here on, or will leave it.
    // The first call starts the thread. If the system refuses the thread, standard error says so
    // once in a process, and nothing is watched until the next call.
    // False: there is no memory, and the runtime must not call `withdraw`.
    static bool enroll() noexcept;
    static void withdraw() noexcept; // The last call ends the thread.

    // A worker calls this when it stops being parked. It costs one load while the watchdog looks
    // regularly.
    static void notice() noexcept {
        if (!tuning::simulated && dozing_.load() != 0) [[unlikely]]
            wake_up();
    }

    // Writes the report of a starvation; called with the registry's lock held. Null: there is no
    // describer.
    using describer = std::string (*)(runtime_core& of);
    static void set_describer(describer what) noexcept;

    // Looks once at one runtime, with the registry's lock held; the explorer's scenarios call it.
    // Returns false if all its workers are parked.
    static bool look_at(runtime_core& one) noexcept;

    // The kernel id of the watchdog's thread; 0: there is none.
    static sys::os_thread_id os_thread() noexcept { return os_thread_.load(); }

private:
    struct state;
    static state* here() noexcept;
    static void thread_main(void* self) noexcept;
    static void wake_up() noexcept;
    static bool look() noexcept;
    struct census;
    static census count(runtime_core& of) noexcept;
    static bool is_work_ready(runtime_core& of, const census& now) noexcept;
    static void await_turns() noexcept;
    static void pause(const state& all, std::int64_t time_ns) noexcept;
    static void note_starvation(runtime_core& of, bool starves) noexcept;
    static bool is_stuck(worker& one) noexcept;
    static void drain_pinned_queue(worker& spare) noexcept;
    static void tell_once(const char* what) noexcept;

    // 1 while the watchdog sleeps until a worker stops being parked. The watchdog stores 1, then
    // looks at the workers again. A worker that stops being parked clears its bit in the idle map,
    // or had it cleared, and then reads this word. Both sides are sequentially consistent, so one
    // of them sees the other.
    static base::atomic<std::uint32_t> dozing_;
    static base::atomic<sys::os_thread_id> os_thread_;
    static base::atomic<describer> describe_;
};

} // namespace sennit::sched
