// SPDX-License-Identifier: Apache-2.0
// actor_metrics: the messages that one actor has handled, and those that wait for it.
//
//     for (const auto& one : sennit::metrics_of(actors))
//         std::cout << one.name << ": " << one.handled << '\n';
//
// child::restarts says how often a supervised actor was restarted; runtime::metrics reports the
// work of a runtime's workers.
//
// Guarantees. The numbers belong to that actor, never to a later one in its slot. They may be
// outdated when they arrive.
//
// Cost: the actor does no work for them that it would not do anyway. `metrics_of` an actor takes a
// lock for a moment; `metrics_of` a group walks all actors of the group's runtime.
#pragma once

#include "sennit/actor/actor_group.hpp"
#include "sennit/actor/actor_ref.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sennit {

// A bound for spawn_options::mailbox that is never reached, for actors whose mailbox length must be
// known.
inline constexpr std::uint32_t counted_mailbox = (1u << 30) - 1;

struct actor_metrics {
    sched::address who;
    std::string name;          // empty if the actor has no name
    std::uint64_t handled = 0; // messages of every kind, including the present one
    // Messages that were sent and not begun. Counted only if the mailbox has a bound: senders to an
    // unbounded mailbox pay for no count.
    std::optional<std::uint32_t> waiting;
};

// Returns null if the actor has ended, or never existed. Thread-safe. Throws std::bad_alloc.
std::optional<actor_metrics> metrics_of(sched::address who);
template <class A>
std::optional<actor_metrics> metrics_of(const actor_ref<A>& who) {
    return metrics_of(who.address());
}
// The metrics of all living actors of a group, in no order. Thread-safe. Throws std::bad_alloc.
std::vector<actor_metrics> metrics_of(const actor_group& group);

namespace detail {
std::optional<std::uint32_t> waiting_in(sched::address who) noexcept;
// True if that incarnation has ended. False while its constructor runs.
bool ended(sched::address who) noexcept;
} // namespace detail

} // namespace sennit
