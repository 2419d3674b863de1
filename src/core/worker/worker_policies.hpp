// SPDX-License-Identifier: Apache-2.0
// The estimates by which a worker decides where tasks and messages run. Each has a file of its own.
// Own thread only. A wrong estimate costs time, nothing else.
#pragma once

#include "core/policy/contention_monitor.hpp"
#include "core/policy/flood_detector.hpp"
#include "core/policy/message_cost_sampler.hpp"
#include "core/policy/prefetch_links.hpp"
#include "core/policy/share_policy.hpp"

namespace sennit::sched {

struct worker_policies {
    share_policy sharing; // Decides whether the run queue is worth sharing.
    // Counts how often another worker was inside an object that this worker wanted.
    contention_monitor contention;
    message_cost_sampler message_costs; // Samples the cost of messages here.
    prefetch_links remote_messages;     // The messages sent to mailboxes of other workers.
    flood_detector floods;              // Detects a receiver that falls behind those messages.
};

} // namespace sennit::sched
