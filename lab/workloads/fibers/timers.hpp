// SPDX-License-Identifier: Apache-2.0
// timer-lateness: one fiber sleeps again and again, for 1 to 2 ms each. The program also prints how
// much later than asked the fiber continues, in microseconds: the median and the 99th percentile.
//
// timers-cancelled: as many fibers as the size says wait for one event for at most an hour, so as
// many timers are armed at the same time. Then the event is set, and each timer is cancelled.
#pragma once

#include "count.hpp"
#include "crew.hpp"
#include "percentiles.hpp"
#include "sleepers.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace lab {

template <class R>
struct timer_lateness : counted {
    using counted::counted;

    std::int64_t run() const {
        late_us.clear();
        late_us.reserve(static_cast<std::size_t>(n));
        R::start([this] {
            for (std::int64_t i = 0; i < n; ++i) {
                const auto pause = std::chrono::microseconds(1'000) + nap(i) / 100;
                const auto due = std::chrono::steady_clock::now() + pause;
                R::sleep_for(pause);
                const std::chrono::duration<double, std::micro> late =
                    std::chrono::steady_clock::now() - due;
                if (late.count() >= 0) late_us.push_back(late.count());
            }
        }).join();
        return static_cast<std::int64_t>(late_us.size()); // no fiber may continue early
    }
    std::string extra() const {
        return percentiles(late_us, {{"late_us_p50", 500}, {"late_us_p99", 990}});
    }

private:
    mutable std::vector<double> late_us;
};

template <class R>
struct timers_cancelled : counted {
    using counted::counted;
    static constexpr bool blocks_many = true;

    std::int64_t run() const {
        return crew_at_gate<R>(n,
                               [](auto& gate) { return R::wait_for(gate, std::chrono::hours(1)); });
    }
};

} // namespace lab
