// SPDX-License-Identifier: Apache-2.0
// Scheduling policies, fibers' properties, and orders of one's own. Most programs need none of this: the default keeps
// all workers busy and is the fastest.
//
//     sennit::runtime same_each_time({.workers = 1, .policy = sennit::scheduling::round_robin});
//     sennit::runtime by_priority({.order = sennit::make_order<sennit::priority_order>});
//     sennit::fiber urgent({.runtime = &by_priority, .priority = 5}, handle_alarm);
//
// The guide, docs/guide/scheduling.md, shows how to write an order, by the example of earliest deadline first.
#pragma once

#include "sennit/sched/scheduling.hpp"
