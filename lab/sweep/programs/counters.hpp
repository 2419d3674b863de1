// SPDX-License-Identifier: Apache-2.0
// The counters of a runtime of Sennit between two moments, for each unit of work.
#pragma once

#include "measure.hpp"

#include <sennit/runtime.hpp>

namespace sweep {

// Adds the member `counters`. `crossings` are tasks that a worker took from outside its own queue,
// as in lab/workloads/counters.hpp.
inline row& add_counters(row& to, const sennit::runtime_metrics& before,
                         const sennit::runtime_metrics& after, double units) {
    std::string text = "{";
    const auto add = [&](const char* name, std::uint64_t from, std::uint64_t until) {
        char member[64];
        std::snprintf(member, sizeof member, "%s\"%s\": %.5g", text.size() > 1 ? ", " : "", name,
                      static_cast<double>(until - from) / units);
        text += member;
    };
    const auto crossings = [](const sennit::runtime_metrics& seen) {
        return seen.steals + seen.tasks_stolen + seen.tasks_injected;
    };
    add("wakes", before.wakes, after.wakes);
    add("barriers", before.barriers, after.barriers);
    add("parks", before.parks, after.parks);
    add("crossings", crossings(before), crossings(after));
    add("steals", before.steals, after.steals);
    add("far_steals", before.far_steals, after.far_steals);
    add("tasks_stolen", before.tasks_stolen, after.tasks_stolen);
    add("tasks_injected", before.tasks_injected, after.tasks_injected);
    add("steal_requests", before.steal_requests, after.steal_requests);
    add("scans", before.scans, after.scans);
    add("failed_steals", before.failed_steals, after.failed_steals);
    add("published", before.published, after.published);
    add("reclaimed", before.reclaimed, after.reclaimed);
    add("forced", before.forced, after.forced);
    add("suspensions", before.suspensions, after.suspensions);
    add("switches", before.switches, after.switches);
    add("tasks_run", before.tasks_run, after.tasks_run);
    return to.add_json("counters", text + "}");
}

} // namespace sweep
