// SPDX-License-Identifier: Apache-2.0
// expect-error: only a message with a `reply` type can be asked
// `ask` sends a message that is not a question.
#include "sennit/actor.hpp"

struct note {};
struct servant : sennit::actor<servant, note> {
    void on(note) {}
};

void use(sennit::actor_ref<servant> to) {
    to.tell(note{});
#ifdef SENNIT_EXPECT_ERROR
    (void)to.ask(note{});
#endif
}
