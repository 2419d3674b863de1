// SPDX-License-Identifier: Apache-2.0
// expect-error: does not accept that message
// The program sends to a catcher a message that the catcher does not accept.
#include "sennit/catcher.hpp"

struct known {};
struct other {};

void use(sennit::catcher<known>& caught) {
    caught.ref().tell(known());
#ifdef SENNIT_EXPECT_ERROR
    caught.ref().tell(other());
#endif
}
