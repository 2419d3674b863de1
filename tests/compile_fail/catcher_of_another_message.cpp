// SPDX-License-Identifier: Apache-2.0
// expect-error: does not accept that message
// Sending to a catcher what it does not catch.
#include "sennit/catcher.hpp"

struct known {};
struct other {};

void use(sennit::catcher<known>& caught) {
    caught.ref().tell(known());
#ifdef SENNIT_EXPECT_ERROR
    caught.ref().tell(other());
#endif
}
