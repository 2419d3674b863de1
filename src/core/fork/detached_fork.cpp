// SPDX-License-Identifier: Apache-2.0
#include "sennit/detail/core/detached_fork.hpp"

#include "core/switch/context.hpp"
#include "core/worker/worker.hpp"

#include <algorithm>
#include <cstdlib>

namespace sennit::sched {

bool detached_mark(fork_slot*) noexcept {
    std::abort(); // never called
}

std::uint32_t room_for_detached(std::uint32_t wanted) noexcept {
    const fork_slot* free = free_slot();
    if (!free) return 0;
    const context& self = this_worker()->self();
    // has_room_for_scopes holds for all slots of the first half.
    const std::ptrdiff_t half = (self.fork_end - self.fork_base()) / 2;
    const std::ptrdiff_t left = half - (free - self.fork_base());
    return left <= 0 ? 0 : std::min(wanted, static_cast<std::uint32_t>(left));
}

} // namespace sennit::sched
