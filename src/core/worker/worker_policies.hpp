// SPDX-License-Identifier: Apache-2.0
// The estimates by which a worker decides where tasks run. Each has a file of its own.
// Own thread only. A wrong estimate costs time, nothing else.
#pragma once

#include "core/policy/consolidation_policy.hpp"
#include "core/policy/share_policy.hpp"

namespace sennit::sched {

struct worker_policies {
    share_policy sharing; // Decides whether the run queue is worth sharing.
    // Notices tasks that communicate with other workers, and decides where they run.
    consolidation_policy consolidation;
};

} // namespace sennit::sched
