// SPDX-License-Identifier: Apache-2.0
// What a runtime can be told at its creation, and what it reports while it runs.
#pragma once

#include "sennit/scheduling.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sennit {

struct runtime_options {
    // Number of worker threads, 1 to 1024. 0: the environment variable SENNIT_WORKERS if set, else
    // one for each usable processor: the smaller of the affinity mask and the control group's
    // quota, rounded up, at least one.
    unsigned workers = 0;

    // Bytes of each context's stack, at least 16 KiB, at most 1 GiB; address space until touched.
    // 0: SENNIT_STACK_SIZE if set (suffixes K, M, G), else 8 MiB, as threads have.
    std::size_t stack_size = 0;

    // Bind worker i to the i-th usable processor (round robin). What the system refuses is ignored
    // and counted in `runtime_metrics::unpinned`. SENNIT_PIN=1 sets it for runtimes that do not.
    bool pin = false;

    // Bind worker i to the i-th of these processors (round robin), as with `pin`; `workers` 0 means
    // then: at most as many. Empty: not so. For all of a NUMA node: cpus_of_node.
    std::vector<unsigned> processors{};

    // Which ready work runs where. See sennit/scheduling.hpp.
    scheduling policy = scheduling::automatic;

    // Makes the order of the queue that all workers share; the policy is then `sharing`, and may
    // not be another one.
    //     .order = sennit::make_order<sennit::priority_order>
    std::unique_ptr<scheduling_order> (*order)() = nullptr;

    // Notice when every thread of the process sleeps inside Sennit until another one wakes it,
    // which can not happen any more. Off for one runtime: off for the process. SENNIT_DEADLOCK=off
    // in the environment: off. Turn it off in a program whose fibers all wait until a signal's
    // default action ends it, or until another process acts on it.
    bool watch_deadlocks = true;

    // Called then with the report, once for each such standstill, with all else asleep, on a thread
    // that is no worker; it must not throw. It may wake fibers, and wait for them; nobody looks for
    // a deadlock meanwhile. The runtime's destructor waits until it has returned. Where the system
    // refuses a thread for it, a worker calls it; it must not block there. The oldest runtime that
    // has one counts. Null: the report is printed to standard error and the process ends with
    // `deadlock_exit_status`, without destructors, after what C streams keep has been written.
    std::function<void(std::string_view report)> on_deadlock{};

    // Threads that the watchdog may add, up to 64, while work is ready behind workers that loop or
    // block their threads: docs/guide/runtime.md. They are made when first needed and leave again.
    // Where all of them are stuck, too, for a second, standard error names the stuck workers and
    // what they run, once for each runtime. 0: no watchdog; none under `round_robin` either. The
    // environment's SENNIT_WATCHDOG goes first: off, or a number.
    unsigned max_spare_workers = 4;

    // Up to how many workers it may grow: runtime::resize. 0: it does not. Not under `round_robin`.
    unsigned max_workers = 0;

    // For reports, and in the names of its threads; cut there to ten characters. Empty: none.
    std::string name{};
};

inline constexpr int deadlock_exit_status = 70;

// Their numbers, ascending, as the system gives them; those that the process may not use included.
// Throws std::invalid_argument where there is no such node. A machine that does not tell has the
// node 0, with all usable ones.
std::vector<unsigned> cpus_of_node(unsigned node);

// Always-on counts since the runtime's creation. Each number is exact, all together are no
// snapshot.
struct runtime_metrics {
    unsigned workers = 0;        // as asked for last: see runtime::resize
    unsigned unpinned = 0;       // workers that asked to be pinned and were refused
    std::uint64_t published = 0; // forks made public on request or by force
    std::uint64_t reclaimed = 0; // of these, taken back by their owner
    std::uint64_t forced = 0;    // publications forced on a worker in a long leaf
    std::uint64_t steals = 0;    // forks run by another worker
    std::uint64_t tasks_stolen =
        0; // runnables taken from the queue of a worker that did not come to them
    std::uint64_t spares_activated =
        0; // times that the watchdog called a thread for a worker that did not get on
    std::uint64_t spares_released = 0; // times that it sent one back
    std::uint64_t failed_steals = 0;   // rounds over all workers that found nothing
    std::uint64_t suspensions = 0;     // contexts that left their worker to wait
    std::uint64_t switches = 0;        // stack switches
    std::uint64_t parks = 0;           // times a worker went to sleep
    std::uint64_t tasks_run =
        0; // scheduled pieces of work run (jobs from outside, children of scopes, wake-ups)
    std::size_t stacks_live =
        0; // stacks made and not idle, one for each worker, and each relief on duty, included
    std::size_t stacks_cached = 0; // idle stacks in the shared reserve
};

} // namespace sennit
