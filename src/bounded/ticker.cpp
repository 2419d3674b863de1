// SPDX-License-Identifier: Apache-2.0
#include "sennit/ticker.hpp"

#include "sennit/detail/core/now.hpp"
#include "sennit/this_fiber.hpp"

#include <stdexcept>

namespace sennit {

void detail::tick_schedule::advance(std::int64_t now_ns) noexcept {
    switch (missed) {
    case missed_ticks::burst:
        next_ns += period_ns;
        break;
    case missed_ticks::delay:
        next_ns = now_ns + period_ns;
        break;
    case missed_ticks::skip:
        next_ns += ((now_ns - next_ns) / period_ns + 1) * period_ns;
        break;
    }
}

ticker::ticker(std::chrono::nanoseconds period, time_point first, missed_ticks missed)
    : schedule_{sched::deadline_of(first), period.count(), missed} {
    if (period <= period.zero())
        throw std::invalid_argument("sennit: [SNT-086] a ticker was made with a period that is not "
                                    "positive; pass a duration of more than 0");
}

ticker::time_point ticker::tick() {
    const time_point due = next();
    this_fiber::sleep_until(due);
    schedule_.advance(sched::now_ns());
    return due;
}

void ticker::reset() noexcept {
    schedule_.next_ns = sched::now_ns() + schedule_.period_ns;
}

} // namespace sennit
