// SPDX-License-Identifier: Apache-2.0
#include "sennit/retry.hpp"

#include "sennit/this_fiber.hpp"

#include <stdexcept>

namespace sennit::detail {

void check(const retry_policy& policy) {
    if (policy.attempts == 0 || !policy.backoff.in_range())
        throw std::invalid_argument(
            "sennit: [SNT-089] a retry_policy is out of range: attempts must be 1 or more, jitter "
            "from 0 to 1, first not negative, and most not below first");
}

void delay_attempt(const retry_policy& policy, unsigned failures) {
    this_fiber::sleep_for(policy.backoff.random_delay(failures));
}

} // namespace sennit::detail
