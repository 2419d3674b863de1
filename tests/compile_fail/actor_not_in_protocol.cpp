// SPDX-License-Identifier: Apache-2.0
// expect-error: does not accept that message
// The sent message is not in the protocol of the receiver.
#include "sennit/actor.hpp"

struct known {};
struct other {};
struct servant : sennit::actor<servant, known> {
    void on(known) {}
};

void use(sennit::actor_ref<servant> to) {
    to.tell(known{});
#ifdef SENNIT_EXPECT_ERROR
    to.tell(other{});
#endif
}
