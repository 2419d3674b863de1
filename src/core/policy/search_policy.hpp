// SPDX-License-Identifier: Apache-2.0
// The search policy: how long one worker without work looks for work before it parks.
//
// A search pays if work comes while it lasts. Where work comes later, the search costs processor
// time, and the worker parks all the same. The policy follows the last gaps, each from the begin of
// a search to the next work. After two gaps in a row that were longer than the whole search time,
// each further one halves the search, down to a sixteenth. One short gap restores the whole time.
//
// A pure function of its calls, without a clock or a worker. Owned by one thread.
#pragma once

#include "core/policy/tuning.hpp"

#include <algorithm>
#include <cstdint>

namespace sennit::sched {

class search_policy {
public:
    explicit search_policy(std::int64_t whole_ns = 0) noexcept : whole_ns_(whole_ns) {}

    // The length of the next search.
    std::int64_t search_ns() const noexcept {
        return whole_ns_ >> std::clamp(long_gaps_ - 1, 0, tuning::most_halvings_of_search);
    }
    // Work came `ns` after the last search began.
    void note_gap(std::int64_t ns) noexcept {
        long_gaps_ =
            ns <= whole_ns_ ? 0 : std::min(long_gaps_ + 1, tuning::most_halvings_of_search + 1);
    }

private:
    std::int64_t whole_ns_;
    int long_gaps_ = 0; // In a row.
};

} // namespace sennit::sched
