// SPDX-License-Identifier: Apache-2.0
// backoff: exponentially growing delays between attempts, with jitter. `retry` and the supervisors
// of actors use it.
//
//     sennit::retry({.attempts = 6, .backoff = {.first = 10ms, .jitter = 0.5}}, connect);
#pragma once

#include <chrono>

namespace sennit {

// The delay before the next attempt: `first`, after the next failure twice that, and so on, but at
// most `most`. Each delay leaves out a random part, up to the fraction `jitter`, so that callers
// that failed together do not try again together. A jitter of 1 is "full jitter".
struct backoff {
    std::chrono::nanoseconds first{0};
    std::chrono::nanoseconds most = std::chrono::seconds(30);
    double jitter = 0; // 0 to 1

    // The delay after failure number `nth` (from 1) in a row; `luck`: from 0 to 1.
    std::chrono::nanoseconds delay(unsigned nth, double luck) const noexcept;
    // The delay with a random `luck`, from the generator of the calling worker.
    std::chrono::nanoseconds random_delay(unsigned nth) const noexcept;
    // True if jitter is from 0 to 1, and first and most are not negative and in order.
    bool in_range() const noexcept;
};

} // namespace sennit
