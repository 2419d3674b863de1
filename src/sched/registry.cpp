// SPDX-License-Identifier: Apache-2.0
#include "sched/registry.hpp"

#include "sennit/base/atomic.hpp"
#include "sennit/base/spin_lock.hpp"
#include "sys/thread.hpp"

#include <algorithm>

namespace sennit::sched {

struct registry::state {
    sys::mutex mutex;
    std::vector<runtime_core*> runtimes;
    sys::mutex one_snapshot;
};

// The address of the list, where a debugger finds it; never destroyed, since threads may look until the process ends.
// In a child of fork() another thread may have held a lock: it gets new ones.
registry::state& registry::here() noexcept {
    static state* one = nullptr;
    static base::atomic<unsigned> generation{~0u}; // of the list
    static base::spin_lock making; // held for an allocation, once in a process: a fork there is unlikely
    if (generation.load() == sys::fork_generation()) return *one;
    std::lock_guard guard(making);
    if (generation.load() != sys::fork_generation()) {
        one = new state;
        sennit_debug_root.runtimes = &one->runtimes;
        generation.store(sys::fork_generation());
    }
    return *one;
}

#ifdef SENNIT_SIMULATOR // it counts what is allocated, and nobody looks
void registry::add(runtime_core&) {}
void registry::remove(runtime_core&) noexcept {}
#else
void registry::add(runtime_core& one) {
    std::lock_guard guard(here().mutex);
    here().runtimes.push_back(&one);
}

void registry::remove(runtime_core& one) noexcept {
    std::lock_guard guard(here().mutex);
    std::erase(here().runtimes, &one);
}
#endif

std::unique_lock<sys::mutex> registry::lock() {
    return std::unique_lock(here().mutex);
}

std::unique_lock<sys::mutex> registry::try_lock() {
    return std::unique_lock(here().mutex, std::try_to_lock);
}

std::unique_lock<sys::mutex> registry::lock_of_snapshots() {
    return std::unique_lock(here().one_snapshot);
}

const std::vector<runtime_core*>& registry::all() noexcept {
    return here().runtimes;
}

} // namespace sennit::sched
