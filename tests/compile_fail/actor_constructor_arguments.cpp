// SPDX-License-Identifier: Apache-2.0
// expect-error: no constructor for these arguments
// No constructor of the actor takes the arguments of `spawn`.
#include "sennit/actor.hpp"

struct servant : sennit::actor<servant> {
    explicit servant(int) {}
};

void use(sennit::actor_group& group) {
    group.spawn<servant>(1);
#ifdef SENNIT_EXPECT_ERROR
    group.spawn<servant>("one", 2);
#endif
}
