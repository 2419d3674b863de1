// SPDX-License-Identifier: Apache-2.0
// What the actors do at the hooks of the core: core/worker/model_hooks.hpp.
#include "actors/runtime/mailbox.hpp"
#include "core/switch/context.hpp"
#include "core/worker/model_hooks.hpp"

namespace sennit::sched::hooks {

void before_queue_steal(worker& victim) noexcept {
    mailbox::deliver_from_lifo_slot(victim);
}

bool is_stale_wakeup(runnable& item) noexcept {
    return mailbox::is_stale_wakeup(item);
}

std::uint64_t items_done_on(const context& running) noexcept {
    const mailbox* box = running.current_mailbox_hint();
    return box ? box->handled.load_rlx() : 0; // A metric.
}

void before_local_value() noexcept {
    mailbox::note_locals();
}

} // namespace sennit::sched::hooks
