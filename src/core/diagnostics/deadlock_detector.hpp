// SPDX-License-Identifier: Apache-2.0
// The deadlock detector: notices when nothing in the process can ever continue, because all fibers
// and all threads wait.
//
// Which thread looks. The last thread that falls asleep for good looks: a worker that finds all
// other workers of its runtime parked, or a thread that is no worker and blocks in one of the
// library's calls. It first sleeps 50 ms, then looks. It looks twice more, later, in case an event
// was on its way. Then it sleeps for good. A thread that is woken before the first look pays
// nothing.
//
// A server at rest never wakes for a look. A worker does not look while its own runtime excludes
// the condition below (`excluded_by`): the report is switched off, a timer is armed, or a strand
// waits for an event from outside. A worker runs when such a timer or such a wait ends, and that
// worker begins anew when it parks. If a thread that is no worker ends them, it looks as soon as it
// blocks in one of the library's calls.
//
// The condition: at one moment, each thread that the kernel lists (/proc/self/task) is known to
// sleep until another thread wakes it. A thread is known to sleep in one of these cases:
//
// 1. A worker is parked without a deadline (`untimed_park_epoch` is odd) and has not been chosen
// for a
//    wake-up (its bit in the idle map is set: a waker clears that first). It may wait for events
//    from outside, as long as no strand waits for one (`event_source::awaited`).
// 2. A thread is in `sleep_for_good`, and its waiter's `signal` is 0: a waker sets that first. The
//    thread published its wait before the call, so it does nothing more.
// 3. A helper of a blocking pool has no call under way: it takes none by itself.
// 4. The thread waits for the signal that requests a dump: it wakes no thread.
// 5. The thread is the watchdog, or a spare worker that the watchdog has released
// (`untimed_park_epoch`
//    is odd, too): the watchdog activates that only where work is ready.
//
// Such threads run no code of the program. If all threads are such at one moment, no code of the
// program runs at that moment or later, and each thread would have to be woken by another one of
// these threads.
//
// Why it is one moment, although the looks come one after the other. The detector looks at each
// state twice, with all first looks before all second ones. Each state carries a number that
// changes whenever the state is left and entered again (`untimed_park_epoch`, the count of threads
// that entered, the counts of calls). It reads a worker's number on both sides of its bit. A state
// that is equal both times has therefore held without a break from the first look to the second,
// and all of them held at any moment between the two. The detector reads the kernel's list in
// between, twice. An unknown thread would be in the list, or a thread that it created would be
// there, later in the list.
//
// Wake-ups from outside of these threads, and how each is excluded. Timers: none may be armed; a
// thread that waits with a deadline is not asleep for good. Descriptors: no strand may wait for
// one. An event that was on its way has a waiter until a worker delivers it, and that worker is
// awake. Signal handlers: none may be installed except those for faults and the library's own.
// Ready work: the queues and the list of suspended contexts with forks must be empty. Two sources
// remain: a debugger that calls functions, and a process that shares this one's memory (clone with
// CLONE_VM).
//
// So there are no false reports. Deadlocks may be missed: a thread of the program that sleeps
// elsewhere, for example in pthread_join or read(), might wake another thread later, and nothing is
// reported.
#pragma once

#include "sennit/detail/core/waiter.hpp"
#include "sys/kernel_threads.hpp"

#include <cstdint>
#include <string>

namespace sennit::sched {

class runtime_core;

// Blocks the calling thread until `who` is woken. The thread is no worker, or has no memory for
// another stack. It has published the wait, which has no deadline.
void sleep_for_good(waiter& who) noexcept;

class deadlock_detector {
public:
    // Writes the report; called with the registry's lock held. Null: there is no describer, and no
    // thread looks.
    using describer = std::string (*)();
    static void set_describer(describer what) noexcept;
    // Registers a thread that wakes no other thread.
    static void ignore_thread(sys::os_thread_id thread) noexcept;
    // True if the state of the runtime `one` excludes a deadlock of the process, and will until one
    // of its workers runs. Cheap; may be false although a look would find the same.
    static bool excluded_by(runtime_core& one) noexcept;

    struct observation; // The result of an observation.
    enum look_result : std::uint8_t { nothing, refused, reported };
    // Looks once and reports a deadlock, each deadlock once. It calls on_deadlock of the oldest
    // runtime that has one (`reported`; for a worker a separate thread calls it, and the call may
    // still run at the return). If no runtime has one, it prints and ends the process. `refused`:
    // another thread looks, reports, or changes the runtimes.
    static look_result look() noexcept;
    // Waits until no thread except the caller is in that runtime's on_deadlock. The runtime is no
    // longer in the registry.
    static void wait_for_callback(const runtime_core& of) noexcept;

    // For tests. From now on looks come `pause_ns` after each other, and `after_look` is called,
    // with the registry's lock held, after each look that has found no deadlock.
    static void set_test_interval(std::int64_t pause_ns, void (*after_look)() noexcept) noexcept;

private:
    static bool found(observation& first);
    static bool take(observation& seen);
    static bool all_known(const observation& seen);
};

} // namespace sennit::sched
