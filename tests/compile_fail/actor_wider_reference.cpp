// SPDX-License-Identifier: Apache-2.0
// expect-error: does not accept all messages of that protocol
// A reference promises more messages than the actor accepts.
#include "sennit/actor.hpp"

struct known {};
struct other {};
struct servant : sennit::actor<servant, known> {
    void on(known) {}
};

sennit::actor_ref<sennit::accepts<known>> less(sennit::actor_ref<servant> to) {
    return to;
}
#ifdef SENNIT_EXPECT_ERROR
sennit::actor_ref<sennit::accepts<known, other>> more(sennit::actor_ref<servant> to) {
    return to;
}
#endif
