// SPDX-License-Identifier: Apache-2.0
// The step that makes private forks public, for the owner that publishes and for the thief that
// forces publication.
#pragma once

#include "core/switch/context.hpp"

#include <cstdint>
#include <memory>

namespace sennit::sched {

// Makes the private slots below `to` public. The caller holds the owner's lock. Thieves may advance
// `top` meanwhile.
inline void advance_split(context& owner, std::uint32_t to) noexcept {
    std::uint64_t seen = owner.forks.load();
    // The thread that finishes a public slot reports to its `done`.
    for (std::uint32_t i = fork_range::of(seen).split; i < to; ++i)
        std::construct_at(&owner.slot(i)->done);
    while (!owner.forks.cas(seen, fork_range{fork_range::of(seen).top, to}.word())) {
    }
}

} // namespace sennit::sched
