// SPDX-License-Identifier: Apache-2.0
// The contention monitor: decides whether work that several workers do together finishes sooner on
// one of them.
//
// Workers that use one channel all the time do little but fetch its cache line from each other: an
// operation that takes 10 ns on one worker takes 100 to 200 ns on two. One worker should then do
// all of it, unless the work between two operations takes longer than that. That time is unknown,
// so the worker measures it. A worker that finds other workers inside a channel all the time stops
// sharing its queue for a while (share_policy.hpp). A woken task continues where it was woken, so
// all tasks that communicate over the channel come to one worker. The number of values that passed
// through the channel before and during that time tells whether the choice was right. If it was
// wrong, the worker does not try again for some time.
//
// Owner's thread only.
#pragma once

#include "core/policy/tuning.hpp"

#include <cstdint>

namespace sennit::sched {

class contention_monitor {
public:
    // Notes that another worker was found inside. Returns true if that was often enough to call
    // `should_consolidate`.
    bool note() noexcept {
        if (++count_ < tuning::contentions_per_check) return false;
        count_ = 0;
        return true;
    }
    // The last contention was at `place`, through which `values` values have passed so far. Returns
    // true if the worker must keep its queue until `tuning::trial_ns` from now.
    bool should_consolidate(const void* place, std::uint64_t values, std::int64_t now_ns) noexcept {
        ++looks_;
        const bool other = place != place_;
        // One place at a time.
        if (other && place_ && now_ns - since_ns_ < 2 * tuning::trial_ns) return false;
        if (other || values < values_) { // Fewer values: a new object in the same memory.
            place_ = place;
            tried_ = false;
            begin(values, now_ns);
            return false;
        }
        const std::int64_t past = now_ns - since_ns_;
        if (tried_ && past < tuning::trial_ns) return false;
        const std::int64_t each = per_value(past, values - values_);
        const bool all_the_time =
            past < looks_ * tuning::contentions_per_check * tuning::contention_ns;
        begin(values, now_ns);
        if (tried_) {
            tried_ = false;
            // Otherwise the worker has done something else since.
            const bool busy = past < 2 * tuning::trial_ns;
            if (busy && each > apart_) apart_until_ns_ = now_ns + tuning::apart_ns;
            return false;
        }
        if (!all_the_time || now_ns < apart_until_ns_) return false;
        apart_ = each;
        tried_ = true;
        return true;
    }

private:
    void begin(std::uint64_t values, std::int64_t now_ns) noexcept {
        values_ = values;
        since_ns_ = now_ns;
        looks_ = 0;
    }
    static std::int64_t per_value(std::int64_t past, std::uint64_t values) noexcept {
        return 16 * past / static_cast<std::int64_t>(values + 1);
    }

    unsigned count_ = 0;
    unsigned looks_ = 0;          // The number of looks since `since_ns_`.
    bool tried_ = false;          // True if the queue has been kept since `since_ns_`.
    const void* place_ = nullptr; // Only compared.
    std::uint64_t values_ = 0;    // The values that had passed through `place_` at `since_ns_`.
    std::int64_t since_ns_ = 0;
    // The time of each value before the trial, in sixteenths of a nanosecond.
    std::int64_t apart_ = 0;
    std::int64_t apart_until_ns_ = 0; // No new trial before this time.
};

} // namespace sennit::sched
