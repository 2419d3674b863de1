// SPDX-License-Identifier: Apache-2.0
// What the actors do at the hooks of the core: core/worker/model_hooks.hpp.
#include "actors/runtime/actor_state.hpp"
#include "actors/runtime/mailbox.hpp"
#include "core/switch/context.hpp"
#include "core/worker/model_hooks.hpp"

namespace sennit::sched::hooks {

std::unique_ptr<model_state> make_worker_state() {
    return std::make_unique<actor_worker_state>();
}

std::unique_ptr<model_state> make_runtime_state(runtime_core& runtime) {
    return std::make_unique<actor_runtime_state>(runtime);
}

void before_queue_steal(worker& victim) noexcept {
    mailbox::deliver_from_lifo_slot(victim);
}

bool is_stale_wakeup(runnable& item) noexcept {
    return mailbox::is_stale_wakeup(item);
}

std::uint64_t items_done_on(const context& running) noexcept {
    const auto* box = static_cast<const mailbox*>(running.current_receiver_hint());
    return box ? box->handled.load_rlx() : 0; // A metric.
}

void before_local_value() noexcept {
    mailbox::note_locals();
}

} // namespace sennit::sched::hooks
