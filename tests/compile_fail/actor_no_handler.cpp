// SPDX-License-Identifier: Apache-2.0
// expect-error: has no handler
// The protocol contains a message that no handler takes.
#include "sennit/actor.hpp"

struct known {};
struct other {};
struct servant : sennit::actor<servant, known, other> {
    void on(known) {}
#ifndef SENNIT_EXPECT_ERROR
    void on(other) {}
#endif
};

void use(sennit::actor_group& group) {
    group.spawn<servant>();
}
