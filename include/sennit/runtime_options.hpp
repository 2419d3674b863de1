// SPDX-License-Identifier: Apache-2.0
// runtime_options: the settings of a runtime at its creation. runtime_metrics: the counters that it
// reports while it runs.
#pragma once

#include "sennit/scheduling.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sennit {

struct runtime_options {
    // Number of worker threads, 1 to 1024. With 0 the environment variable SENNIT_WORKERS decides,
    // if it is set. Otherwise the runtime starts one worker for each usable processor: the smaller
    // of the affinity mask and the control group's quota, rounded up, at least one.
    unsigned workers = 0;

    // Bytes of each context's stack, at least 16 KiB, at most 1 GiB. The stack is address space
    // until it is touched. With 0 the environment variable SENNIT_STACK_SIZE decides, if it is set
    // (suffixes K, M, G), else 8 MiB, the size of a thread's stack.
    std::size_t stack_size = 0;

    // Binds worker i to the i-th usable processor (round robin). The order of the processors is:
    // one of each core before the second thread of any core, fast cores before slow ones, and
    // neighbours together. A binding that the system refuses is ignored and counted in
    // `runtime_metrics::unpinned`. SENNIT_PIN=1 sets it for runtimes that do not set it. Without
    // `pin` and `processors` the system places the workers.
    bool pin = false;

    // Binds worker i to the i-th processor of this list (round robin), as `pin` does. If `workers`
    // is 0, the runtime then starts at most as many workers as the list is long. An empty list has
    // no effect. For all processors of a NUMA node use cpus_of_node.
    std::vector<unsigned> processors{};

    // Lets a runtime whose workers are bound prefer near workers: those whose processors share a
    // level-3 cache, or a NUMA node where the caches are not known. A worker without work usually
    // looks at near workers first, and a worker that wakes another one wakes a near one first. The
    // facts come from /sys, once in a process. Without this option `pin` takes the processors in
    // ascending order. The environment variable SENNIT_TOPOLOGY, 0 or 1, has precedence.
    bool use_topology = true;

    // Decides which ready task runs on which worker. See sennit/scheduling.hpp.
    scheduling policy = scheduling::automatic;

    // Creates the order of the queue that all workers share. The policy is then `sharing`, and no
    // other policy may be set.
    //     .order = sennit::make_order<sennit::priority_order>
    std::unique_ptr<scheduling_order> (*order)() = nullptr;

    // Lets the runtime run tasks that communicate on one worker for a while, if a short trial shows
    // that they finish more work there in the same time: docs/guide/runtime.md. Has an effect only
    // under `stealing`. The environment variable SENNIT_CONSOLIDATE, 0 or 1, has precedence.
    bool consolidate = true;

    // How long a worker without work looks for work at most before it parks, 0 to 1 s. While work
    // comes in longer gaps, the worker looks for down to a sixteenth of this time. A worker that
    // looks occupies its processor, and begins new work within a microsecond; a parked one needs 5
    // to 50 us. A server that pays for its processor time, or shares the machine with its clients,
    // may set 0. A program of short forked or parallel pieces becomes slower with it. The
    // environment variable SENNIT_SEARCH_TIME, in microseconds, has precedence.
    std::chrono::nanoseconds search_time = std::chrono::microseconds(50);

    // Detects a deadlock: every thread of the process sleeps inside Sennit until another thread
    // wakes it, which cannot happen any more. Turning it off for one runtime turns it off for the
    // process; so does SENNIT_DEADLOCK=off in the environment. Turn it off in a program whose
    // fibers all wait until a signal's default action ends it, or until another process acts on it.
    bool watch_deadlocks = true;

    // Called with the report, once for each deadlock, on a thread that is no worker, while all
    // other threads sleep. It must not throw. It may wake fibers and wait for them; the detector is
    // off meanwhile. The runtime's destructor waits until it has returned. Where the system refuses
    // a thread for the call, a worker makes the call, which must then not block. If several
    // runtimes set it, the oldest runtime's function is called. If it is null, the report goes to
    // standard error. The process then ends with `deadlock_exit_status`, without destructors, after
    // the output buffers of C streams have been written.
    std::function<void(std::string_view report)> on_deadlock{};

    // The number of spare workers, up to 64, that the watchdog may add while tasks wait behind
    // workers whose task loops or blocks its thread: docs/guide/runtime.md. Spare workers are
    // created when they are first needed, and leave again. When all of them have been stuck for a
    // second, too, standard error names the stuck workers and their tasks, once for each runtime.
    // 0: no watchdog; the policy `round_robin` has none either. The environment variable
    // SENNIT_WATCHDOG has precedence: off, or a number.
    unsigned max_spare_workers = 4;

    // The largest number of workers that runtime::resize may set. 0: the runtime does not grow. Not
    // available under `round_robin`.
    unsigned max_workers = 0;

    // Shown in reports and in the names of the runtime's threads, which use the first ten
    // characters. Empty: none.
    std::string name{};
};

inline constexpr int deadlock_exit_status = 70;

// Returns the numbers of the processors of a NUMA node, ascending, as the system gives them. The
// list includes processors that the process may not use. Throws std::invalid_argument if there is
// no such node. A machine that reports no nodes has node 0 with all usable processors.
std::vector<unsigned> cpus_of_node(unsigned node);

// Counters since the runtime's creation, which are always on. Each number is exact, but the numbers
// together are not a snapshot.
struct runtime_metrics {
    // Number of workers that the constructor or the last runtime::resize asked for.
    unsigned workers = 0;
    unsigned unpinned = 0;       // workers that the system refused to bind
    std::uint64_t published = 0; // forks made public on request or by force
    std::uint64_t reclaimed = 0; // published forks that their owner took back
    std::uint64_t forced = 0;    // publications forced on a worker in a long leaf
    std::uint64_t steals = 0;    // forks that another worker ran
    // Of `steals`, those from a worker that was not near (runtime_options::use_topology).
    std::uint64_t far_steals = 0;
    // Runnables stolen from the queue of a worker that did not run them.
    std::uint64_t tasks_stolen = 0;
    // Runnables that another thread made ready for a worker of this runtime, or that a worker
    // shared. `steals`, `tasks_stolen` and this number together bound how often work moved from one
    // worker to another.
    std::uint64_t tasks_injected = 0;
    // Messages that a worker's handlers sent to an actor of another worker.
    std::uint64_t remote_messages = 0;
    // Times that the runtime gathered communicating tasks on one worker and kept them there.
    std::uint64_t consolidations = 0;
    // Number of times that the watchdog activated a spare worker for a worker without progress.
    std::uint64_t spares_activated = 0;
    // Number of times that the watchdog released a spare worker.
    std::uint64_t spares_released = 0;
    // Requests for work that a worker without work sent to another worker, and looks of such a
    // worker at the queues of all other workers. Both grow while workers find nothing to do.
    std::uint64_t steal_requests = 0, scans = 0;
    std::uint64_t failed_steals = 0; // rounds over all workers that found nothing
    std::uint64_t suspensions = 0;   // contexts that left their worker to wait
    std::uint64_t switches = 0;      // stack switches
    std::uint64_t parks = 0;         // times a worker parked
    std::uint64_t wakes = 0;         // times a thread woke a parked worker, with one futex call
    // Events of descriptors that the runtime took from the system; looks for such events by workers
    // that had other work; and waits for them by a parked worker. An event in a look or a wait of
    // its own costs a system call, so `events` should exceed the sum of the other two under load.
    std::uint64_t events = 0, event_polls = 0, event_waits = 0;
    // Number of memory barriers that the library made all threads of the process pass, with one
    // membarrier call each. A barrier interrupts every processor that runs a thread of the process,
    // so this number counts the barriers of all runtimes.
    std::uint64_t barriers = 0;
    // Number of scheduled tasks that ran: jobs from outside, children of scopes, wake-ups.
    std::uint64_t tasks_run = 0;
    // Stacks that exist and are not idle. Each worker and each active spare worker counts for one.
    std::size_t stacks_live = 0;
    std::size_t stacks_cached = 0; // idle stacks in the shared cache
    // Stacks made since the runtime's creation: the most stacks that were live at once, and a few.
    // A worker makes a stack only if neither its own cache nor the shared cache has one of the
    // wanted size. Where all stacks have one size, the surplus is the idle stacks in the caches of
    // the other workers, at most 16 for each.
    std::size_t stacks_made = 0;
};

} // namespace sennit
