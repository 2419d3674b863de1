// SPDX-License-Identifier: Apache-2.0
// expect-error: must have `down` in its protocol
// An actor watches another actor, but `down` is not in its own protocol.
#include "sennit/actor.hpp"

struct known {};
struct servant : sennit::actor<servant, known, sennit::down> {
    void on(known) { watch(other); }
    void on(sennit::down) {}
    sennit::actor_ref<servant> other;
};
#ifdef SENNIT_EXPECT_ERROR
struct deaf : sennit::actor<deaf, known> {
    void on(known) { watch(other); }
    sennit::actor_ref<servant> other;
};

void use(sennit::actor_group& group) {
    group.spawn<deaf>();
}
#endif
