// SPDX-License-Identifier: Apache-2.0
// Whether what a worker does together with others is done sooner by one of them.
//
// Workers that are at one channel all the time do little but fetch its line from each other: what
// takes 10 ns on one takes 100 to 200 on two. One had better do it all, unless what they do between
// two operations takes longer than that, and how long that is nobody knows. So it is tried. Who
// finds others inside a channel all the time keeps its queue for a while (share_policy.hpp):
// whoever is woken goes on where that was done, so all that talks over the channel comes to one
// worker. How many values went through it meanwhile, and before, says whether that was right; if
// not, it is not tried again for some time.
//
// Owner's thread only.
#pragma once

#include "core/policy/tuning.hpp"

#include <cstdint>

namespace sennit::sched {

class contention_monitor {
public:
    // Somebody has been found inside. True: so often that `should_consolidate` is to be asked.
    bool note() noexcept {
        if (++count_ < tuning::contentions_per_check) return false;
        count_ = 0;
        return true;
    }
    // The last of these was at `place`, through which so many values have gone so far. True: keep
    // the queue, until `tuning::trial_ns` from now.
    bool should_consolidate(const void* place, std::uint64_t values, std::int64_t now_ns) noexcept {
        ++looks_;
        const bool other = place != place_;
        if (other && place_ && now_ns - since_ns_ < 2 * tuning::trial_ns)
            return false;                // one at a time
        if (other || values < values_) { // or a new one in the same memory
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
            const bool busy = past < 2 * tuning::trial_ns; // else it has done something else since
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
    unsigned looks_ = 0;          // since `since_ns_`
    bool tried_ = false;          // since `since_ns_`
    const void* place_ = nullptr; // only compared
    std::uint64_t values_ = 0;    // that had gone through it then
    std::int64_t since_ns_ = 0;
    std::int64_t apart_ = 0;          // how long each took before, in sixteenths of a nanosecond
    std::int64_t apart_until_ns_ = 0; // not to be tried again before
};

} // namespace sennit::sched
