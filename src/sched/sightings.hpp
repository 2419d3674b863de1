// SPDX-License-Identifier: Apache-2.0
// What a worker has seen of another one, to tell whether that gets on: src/sched/README.md, "A worker's own queue".
//
// A piece behind a long one is worth taking as soon as that is cheaper than to wait for it. One among pieces that talk
// to each other is not, however long their worker has not been seen to get on: it may have lost its processor, or have
// been interrupted. So a short time without progress counts only where pieces have taken long before. A wrong answer
// costs time, nothing else.
#pragma once

#include "sched/tuning.hpp"

#include <cstdint>
#include <utility>

namespace sennit::sched {

class sightings {
public:
    // It has picked something since this was asked last. `runs`: counters::runs.
    bool gets_on(std::uint64_t runs, std::int64_t now_ns) noexcept {
        const std::uint64_t done = runs - std::exchange(runs_, runs);
        const std::int64_t past = now_ns - std::exchange(asked_ns_, now_ns);
        if (past > tuning::take_after_ns) takes_long_ = past > static_cast<std::int64_t>(done) * tuning::talk_ns;
        return done != 0;
    }
    // What it has picked took longer, then, than what only talks.
    bool takes_long() const noexcept { return takes_long_; }
    // It has come to the end of something since this was asked last. `pulse`: worker::pulse.
    bool gets_on_in_passing(std::uint64_t pulse) noexcept { return pulse != std::exchange(pulse_, pulse); }

private:
    std::uint64_t runs_ = 0, pulse_ = 0;
    std::int64_t asked_ns_ = 0;
    bool takes_long_ = tuning::stressed;
};

} // namespace sennit::sched
