// SPDX-License-Identifier: Apache-2.0
// The simulated system's interface for the explorer and for scenarios.
#pragma once

#include <cstddef>

namespace sennit::sim {

void reset_platform() noexcept; // before each execution
// Each simulated thread calls it at the end of its body: unregisters the thread as a user of locks.
void thread_ends() noexcept;
// From here on, a thread that has made all threads pass a barrier yields its processor. This uses
// up no preemption.
void barriers_yield() noexcept;
// From here on, a worker that parks as the last searcher may look late. In other scenarios the late
// look would find the work of a lost wake-up.
void allow_late_looks() noexcept;
// From here on, the scenario's first thread is the main thread, which may run its calls itself.
void allow_guests() noexcept;
// From here on, the system refuses membarrier, which it has granted until now.
void refuse_barriers() noexcept;
// From here on, the system refuses memory to simulated threads, or grants it again.
void refuse_memory(bool from_now_on) noexcept;
std::size_t live_stacks() noexcept;
std::size_t coroutine_stacks_made() noexcept; // since the process began
std::size_t live_allocations() noexcept;      // allocations of simulated threads that are not freed

// While an object of this class lives, allocations belong to the explorer and are not counted.
// Never held over a switch.
class explorers_own {
public:
    explorers_own() noexcept : before_(active) { active = true; }
    ~explorers_own() { active = before_; }
    explorers_own(const explorers_own&) = delete;
    static inline bool active = false;

private:
    bool before_;
};

} // namespace sennit::sim
