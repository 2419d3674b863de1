// SPDX-License-Identifier: Apache-2.0
// What the explorer needs to know of the simulated system.
#pragma once

#include <cstddef>

namespace sennit::sim {

void reset_platform() noexcept; // before each execution
// From here on whoever has made all threads pass a barrier gives its processor away: no preemption
// is used up.
void barriers_yield() noexcept;
// From here on the system refuses what it has granted until now.
void refuse_barriers() noexcept;
void refuse_memory(bool from_now_on) noexcept; // the same for that, to simulated threads
std::size_t live_stacks() noexcept;
std::size_t coroutine_stacks_made() noexcept; // since the process began
std::size_t live_allocations() noexcept;      // made by simulated threads and not freed

// While one lives, allocations are the explorer's own and not counted. Never held over a switch.
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
