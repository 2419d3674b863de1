// SPDX-License-Identifier: Apache-2.0
// expect-error: has no `using reply
// A handler returns an answer to a message that is not a question.
#include "sennit/actor.hpp"

struct note {};
struct servant : sennit::actor<servant, note> {
#ifdef SENNIT_EXPECT_ERROR
    int on(note) { return 1; }
#else
    void on(note) {}
#endif
};

void use(sennit::actor_group& group) {
    group.spawn<servant>();
}
