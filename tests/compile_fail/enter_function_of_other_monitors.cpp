// SPDX-License-Identifier: Apache-2.0
// expect-error: not a function of these monitors
// The function that `enter` names does not begin with parameters for the monitors.
#include "sennit/monitor.hpp"

struct part : sennit::monitor {};
void both(part& a, part& b);
void one(part& a, int);

void use(part& a, part& b) {
    auto in = sennit::enter<&both>(a, b);
#ifdef SENNIT_EXPECT_ERROR
    auto wrong = sennit::enter<&one>(a, b);
#endif
}
