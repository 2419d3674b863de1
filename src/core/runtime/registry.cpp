// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/registry.hpp"

#include "core/runtime/fork_safe_static.hpp"

#include <algorithm>
#include <new>

namespace sennit::sched {

struct registry::state {
    sys::mutex mutex;
    std::vector<runtime_core*> runtimes;
    sys::mutex one_snapshot;
};

registry::state& registry::here() {
    static constinit fork_safe_static<state> all;
    state* const mine = all.get();
    if (!mine) throw std::bad_alloc();
    return *mine;
}

#ifdef SENNIT_SIMULATOR // The simulator counts allocations, and no thread examines the list.
void registry::add(runtime_core&) {}
void registry::remove(runtime_core&) noexcept {}
#else
void registry::add(runtime_core& one) {
    state& all = here();
    std::lock_guard guard(all.mutex);
    all.runtimes.push_back(&one);
    // The address of the list, where a debugger finds it.
    sennit_debug_root.runtimes = &all.runtimes;
}

void registry::remove(runtime_core& one) noexcept {
    state& all = here(); // Made by `add`.
    std::lock_guard guard(all.mutex);
    std::erase(all.runtimes, &one);
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
