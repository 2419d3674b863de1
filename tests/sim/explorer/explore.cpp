// SPDX-License-Identifier: Apache-2.0
#include "explore.hpp"

#include "actors/runtime/mailbox_table.hpp"
#include "ground/ground.hpp"
#include "io/runtime/io_record.hpp"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <stdexcept>

namespace sennit::sim {

std::vector<scenario>& scenarios() {
    static std::vector<scenario> all;
    return all;
}

namespace {

// Allocations that are kept forever are not counted as leaks of an execution.
std::size_t left() noexcept {
    return live_allocations() - sched::mailbox_table::chunks() - sched::io_record::chunks();
}

outcome& run_once(const scenario& what, strategy& by, places& meeting, trace* into) {
    const std::size_t before = left();
    outcome& result = world::the().run(what.body, by,
                                       {what.within.steps, what.within.preempt_in,
                                        what.within.membarrier, what.within.elision, &meeting},
                                       into);
    if (!result.failed && left() != before) {
        result.failed = true;
        result.what = "leak: " + std::to_string(left() - before) + " allocations are left";
    }
    if (!result.failed && live_stacks() != 0) {
        result.failed = true;
        result.what = "leak: " + std::to_string(live_stacks()) + " stacks were not given back";
    }
    return result;
}

// The places at which a scenario's threads meet are kept from one search to the next.
places& meeting_of(const scenario& what) {
    static std::map<const scenario*, places> all;
    const auto [found, is_new] = all.try_emplace(&what, what.within.preempt_in);
    if (is_new) {
        for (const auto& by : {random_walk(11, 300),
                               // So that the search need not restart often.
                               pct(3, 11, 500)})
            while (by->begin())
                if (run_once(what, *by, found->second, nullptr).failed)
                    return found->second; // the search finds the failure, too
    }
    return found->second;
}

double processor_seconds() noexcept {
    timespec used{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

} // namespace

finding explore(const scenario& what, strategy& by, double max_seconds) {
    using time = std::chrono::steady_clock;
    const auto start = time::now();
    const double used_before = processor_seconds();
    const auto seconds = [&] { return std::chrono::duration<double>(time::now() - start).count(); };
    finding found;
    const auto out_of_time = [&] {
        return (found.executions & 255) == 255 && seconds() > max_seconds;
    };
    places& meeting = meeting_of(what);
    while (!found.failed && !out_of_time() && by.begin()) {
        const outcome& result = run_once(what, by, meeting, nullptr);
        ++found.executions;
        found.longest = std::max(found.longest, result.steps);
        if (result.met_anew) by.begin_again();
        if (result.failed) {
            found.failed = true;
            found.what = result.what;
            found.replay = encode(result.decisions);
        }
    }
    found.complete = by.complete();
    found.seconds = seconds();
    found.processor_seconds = processor_seconds() - used_before;
    return found;
}

// Numbers of threads and ages are below 26.
std::string encode(const std::vector<std::uint8_t>& decisions) {
    std::string text;
    for (std::size_t i = 0; i < decisions.size();) {
        std::size_t end = i;
        while (end < decisions.size() && decisions[end] == decisions[i]) ++end;
        text += static_cast<char>('a' + decisions[i]);
        if (end - i > 1) text += std::to_string(end - i);
        i = end;
    }
    return text.empty() ? "-" : text;
}

std::vector<std::uint8_t> decode(const std::string& replay) {
    std::vector<std::uint8_t> decisions;
    if (replay == "-") return decisions;
    for (std::size_t i = 0; i < replay.size();) {
        const char letter = replay[i++];
        if (letter < 'a' || letter > 'z')
            throw std::invalid_argument("not a replay: '" + replay + "'");
        std::size_t count = 0;
        bool counted = false;
        while (i < replay.size() && replay[i] >= '0' && replay[i] <= '9') {
            count = count * 10 + static_cast<std::size_t>(replay[i++] - '0');
            counted = true;
            if (count > 1'000'000) throw std::invalid_argument("not a replay: '" + replay + "'");
        }
        decisions.insert(decisions.end(), counted ? count : 1,
                         static_cast<std::uint8_t>(letter - 'a'));
    }
    return decisions;
}

outcome replay_of(const scenario& what, const std::string& text, trace& into) {
    const auto by = replay(decode(text));
    by->begin();
    places anywhere(what.within.preempt_in);
    return run_once(what, *by, anywhere, &into);
}

} // namespace sennit::sim
