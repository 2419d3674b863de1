// SPDX-License-Identifier: Apache-2.0
// The common parts of the programs about limits: limits that are about to run out, and strands that
// compete.
#pragma once

#include "mix.hpp"
#include "mix_visitors.hpp"

#include <sennit/sennit.hpp>

#include <chrono>
#include <stop_token>
#include <utility>
#include <vector>

namespace soak {

// A limit of about the time of a served wait. One limit in four is over already.
inline std::chrono::microseconds soon(dice& with) {
    return std::chrono::microseconds(with.from(0, 3) == 0 ? 0 : with.from(1, 200));
}
inline bool one_in(dice& with, int many) {
    return with.from(1, many) == 1;
}
inline void pause(dice& with) {
    for (int k = with.from(-2, 2); k > 0; --k) sennit::this_fiber::yield();
}

// Calls `body(i, dice)` in `count` strands at once: fibers, and now and then the first one is a
// plain thread.
template <class F>
void strands(dice& with, int count, F body) {
    visitors all;
    const bool with_thread = one_in(with, 3);
    for (int i = 0; i < count; ++i) {
        auto strand = [&body, i, seed = with.seed()] {
            dice mine(seed);
            body(i, mine);
        };
        if (with_thread && i == 0)
            all.thread(strand);
        else
            all.fiber(strand);
    }
    all.join();
}

// Returns true if `function` ended in time, with a limit on all of its blocking calls.
template <class F>
bool in_time(std::chrono::microseconds limit, F function) {
    const auto until = std::chrono::steady_clock::now() + limit;
    try {
        sennit::with_timeout(limit, function);
        return true;
    } catch (const sennit::timed_out&) {
        if (std::chrono::steady_clock::now() < until)
            throw; // too early: no handler catches the exception
        return false;
    }
}

} // namespace soak
