// SPDX-License-Identifier: Apache-2.0
// The state that the actors' runtime keeps for each worker and for each runtime.
#pragma once

#include "actors/runtime/flood_detector.hpp"
#include "actors/runtime/mailbox_table.hpp"
#include "actors/runtime/message_cost_sampler.hpp"
#include "actors/runtime/prefetch_links.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/worker/model_state.hpp"
#include "core/worker/worker.hpp"

namespace sennit::sched {

// Own thread of the worker only.
struct actor_worker_state final : model_state {
    mailbox_cache mailboxes;
    message_cost_sampler message_costs; // Samples the cost of messages here.
    prefetch_links remote_messages;     // The messages sent to mailboxes of other workers.
    flood_detector floods;              // Detects a receiver that falls behind those messages.
};

struct actor_runtime_state final : model_state {
    explicit actor_runtime_state(runtime_core& runtime) noexcept : mailboxes(runtime) {}
    mailbox_table mailboxes;
};

inline actor_worker_state& actor_state(worker& me) noexcept {
    return static_cast<actor_worker_state&>(*me.services.model);
}
inline mailbox_table& mailboxes_of(runtime_core& runtime) noexcept {
    return static_cast<actor_runtime_state&>(runtime.model()).mailboxes;
}

} // namespace sennit::sched
