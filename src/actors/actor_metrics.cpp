// SPDX-License-Identifier: Apache-2.0
#include "sennit/actor/actor_metrics.hpp"

#include "actors/cold_state.hpp"
#include "actors/runtime/actor_state.hpp"
#include "core/runtime/runtime_core.hpp"

#include <mutex>
#include <utility>

namespace sennit {

namespace {

std::optional<std::uint32_t> waiting_in(const sched::mailbox& box) noexcept {
    if (!box.capacity.bounded()) return std::nullopt;
    return box.capacity.queued();
}

// Checks the incarnation before and after the reads, so all values belong to that incarnation.
std::optional<actor_metrics> look_at(sched::mailbox& box, sched::address who) {
    actor_metrics found;
    found.who = who;
    {
        std::lock_guard guard(detail::cold_state_lock(who.slot));
        if (box.generation() != who.generation) return std::nullopt;
        if (box.cold_state) found.name = detail::cold_state_of(box)->name;
    }
    found.handled = box.handled.load();
    found.waiting = waiting_in(box);
    if (box.ended(who)) return std::nullopt;
    return found;
}

} // namespace

std::optional<actor_metrics> metrics_of(sched::address who) {
    sched::mailbox* box = who ? sched::mailbox_table::find(who.slot) : nullptr;
    return box ? look_at(*box, who) : std::nullopt;
}

std::vector<actor_metrics> metrics_of(const actor_group& group) {
    std::vector<actor_metrics> all;
    sched::mailboxes_of(group.runtime_).for_each([&](sched::mailbox& box) {
        const sched::address who{box.self().slot, box.generation()};
        if (who.generation % 2 == 0 || actor_group::of(box) != &group) return;
        if (auto found = look_at(box, who)) all.push_back(std::move(*found));
    });
    return all;
}

namespace detail {
std::optional<std::uint32_t> waiting_in(sched::address who) noexcept {
    sched::mailbox* box = who ? sched::mailbox_table::find(who.slot) : nullptr;
    if (!box || box->generation() != who.generation) return std::nullopt;
    return sennit::waiting_in(*box);
}
bool ended(sched::address who) noexcept {
    const sched::mailbox* box = who ? sched::mailbox_table::find(who.slot) : nullptr;
    return !box || box->is_over(who);
}
} // namespace detail

} // namespace sennit
