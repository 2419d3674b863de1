// SPDX-License-Identifier: Apache-2.0
// actor_metrics: what one actor has done, and what waits for it.
//
//     for (const auto& one : sennit::metrics_of(actors)) std::cout << one.name << ": " <<
//     one.handled << '\n';
//
// How often a supervised one was restarted is child::restarts; what a runtime's workers did is
// runtime::metrics. Guarantees. The numbers are of that actor, never of one that came after it.
// They may be outdated when they arrive. Cost: nothing that the actor would not do anyway. Looking
// at one takes a lock for a moment; at a group, a look at all actors of its runtime.
#pragma once

#include "sennit/actor/actor_group.hpp"
#include "sennit/actor/actor_ref.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sennit {

// A bound for spawn_options::mailbox that is never reached, for actors whose mailbox's length shall
// be known.
inline constexpr std::uint32_t counted_mailbox = (1u << 30) - 1;

struct actor_metrics {
    sched::address who;
    std::string name;          // empty: none
    std::uint64_t handled = 0; // pieces of mail, of whatever kind, with the one in hand
    // Messages that were sent and not begun. Counted only where the mailbox has a bound: an
    // unbounded one costs its senders no count.
    std::optional<std::uint32_t> waiting;
};

// Null: it has ended, or never was. Thread-safe. Throws std::bad_alloc.
std::optional<actor_metrics> metrics_of(sched::address who);
template <class A>
std::optional<actor_metrics> metrics_of(const actor_ref<A>& who) {
    return metrics_of(who.address());
}
// Of all its living actors, in no order. Thread-safe. Throws std::bad_alloc.
std::vector<actor_metrics> metrics_of(const actor_group& group);

namespace detail {
std::optional<std::uint32_t> waiting_in(sched::address who) noexcept;
// Whether that life is over. False while its constructor runs.
bool ended(sched::address who) noexcept;
} // namespace detail

} // namespace sennit
