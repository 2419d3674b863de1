// SPDX-License-Identifier: Apache-2.0
// expect-error: derive from sennit::actor
// `spawn` is called for a class that is not an actor.
#include "sennit/actor.hpp"

struct servant : sennit::actor<servant> {};
struct plain {};

void use(sennit::actor_group& group) {
    group.spawn<servant>();
#ifdef SENNIT_EXPECT_ERROR
    group.spawn<plain>();
#endif
}
