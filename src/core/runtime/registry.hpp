// SPDX-License-Identifier: Apache-2.0
// The runtimes of the process, for code that examines all of them: dumps, the deadlock detector,
// debuggers.
//
// A runtime is in the list from the end of its construction to the beginning of its destruction;
// while the lock is held none comes or goes. In a child of fork() the list begins empty, and the
// locks are free.
#pragma once

#include "sys/mutex.hpp"

#include <mutex>
#include <vector>

namespace sennit::sched {

class runtime_core;

class registry {
public:
    static void add(runtime_core& one); // Throws std::bad_alloc.
    static void remove(runtime_core& one) noexcept;

    static std::unique_lock<sys::mutex> lock();
    static std::unique_lock<sys::mutex> try_lock();
    static const std::vector<runtime_core*>& all() noexcept; // Requires the lock; oldest first.

    // The lock of a thread that halts workers: one at a time in the process. If a thread takes both
    // locks, it takes this one second.
    static std::unique_lock<sys::mutex> lock_of_snapshots();

private:
    struct state;
    static state& here();
};

// The root object for debuggers: tools/gdb/sennit.py.
struct debug_layout;
struct debug_root {
    const void* runtimes; // The address of `all()`.
    const debug_layout* layout;
    const void* coroutine_stacks; // The address of the variable that points to the newest one.
};

} // namespace sennit::sched

extern "C" {
extern sennit::sched::debug_root sennit_debug_root;
}
