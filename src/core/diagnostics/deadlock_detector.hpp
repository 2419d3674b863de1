// SPDX-License-Identifier: Apache-2.0
// Notices when nothing in the process can ever go on: a deadlock of all fibers and all threads.
//
// Who looks. Whoever is the last to fall asleep for good: a worker that finds all others of its
// runtime asleep, or a thread that is no worker and blocks in one of the library's calls. It sleeps
// 50 ms at first, then looks; and twice more, later, in case something was on its way; then it
// sleeps for good. Who is woken before pays nothing for that.
//
// What is looked for: a moment in which each thread that the kernel lists (/proc/self/task) is
// known to sleep until some other thread wakes it. "Known to sleep" is one of
//   1. a worker in bed without a deadline (`park_epoch_` is odd) whom nobody has chosen (its bit in
//   the idle map is set: who
//      wakes it clears that first);
//   2. a thread in `sleep_for_good`, whose waiter's `signal` is 0: who wakes it sets that first. It
//   has published its
//      wait before it came there, so it does nothing any more;
//   3. a helper of a blocking pool without a call under way: it takes none by itself;
//   4. the thread that waits for the signal that asks for a dump: it wakes nobody;
//   5. the watchdog, and a relief that it has sent back (`park_epoch_` is odd, too): it calls that
//   only where work is ready.
// Such threads run no code of the program. If all are such at one moment, nothing of the program
// runs at that moment or later, and each would have to be woken by one of the others.
//
// One moment, though the looks come one after the other: each state is looked at twice, with all
// first looks before all second ones, and each carries a number that changes whenever the state is
// left and entered again (`park_epoch_`, the count of threads that entered, the counts of calls). A
// worker's number is read on both sides of its bit. So what is the same both times has held without
// a break from the first look to the second, and all of it held at any moment between the two. The
// kernel's list is read there, twice: a thread that is not known would be in it, or one that it
// made and that comes later in the list.
//
// What could wake somebody from outside of all these threads, and what is done about it: timers
// (none may be armed; whoever waits with a deadline is not asleep for good), signal handlers (none
// may be installed but those for faults and the library's own), work that lies ready (the queues
// and the orphan list must be empty). What remains: a debugger that calls functions, and a process
// that shares this one's memory (clone with CLONE_VM). So there are no false reports. There may be
// missed ones: a thread of the program that sleeps elsewhere, for example in pthread_join or
// read(), might wake somebody later, and nothing is reported.
#pragma once

#include "sennit/detail/core/waiter.hpp"
#include "sys/kernel_threads.hpp"

#include <cstdint>
#include <string>

namespace sennit::sched {

class runtime_core;

// Blocks the calling thread, which is no worker or has no memory for another stack, until `who` is
// woken. It has published the wait, which has no deadline.
void sleep_for_good(waiter& who) noexcept;

class deadlock_detector {
public:
    // Writes the report; called with the registry's lock held. Null: there is none, and nobody
    // looks.
    using describer = std::string (*)();
    static void set_describer(describer what) noexcept;
    // A thread that wakes nobody.
    static void ignore_thread(sys::os_thread_id thread) noexcept;

    struct observation; // what a look finds
    enum look_result : std::uint8_t { nothing, refused, reported };
    // Looks once, and reports what it finds, each standstill once: calls on_deadlock of the oldest
    // runtime that has one
    // (`reported`; for a worker a thread of its own calls it, and may not be done), else prints and
    // ends the process. `refused`: another thread looks, tells, or changes the runtimes.
    static look_result look() noexcept;
    // Until nobody is in that runtime's on_deadlock, except the caller; it is in the registry no
    // more.
    static void wait_for_callback(const runtime_core& of) noexcept;

    // For tests: from now on the looks come `pause_ns` after each other, and `after_look` is
    // called, with the registry's lock held, after each that has found no deadlock.
    static void set_test_interval(std::int64_t pause_ns, void (*after_look)() noexcept) noexcept;

private:
    static bool found(observation& first);
    static bool take(observation& seen);
    static bool all_known(const observation& seen);
};

} // namespace sennit::sched
