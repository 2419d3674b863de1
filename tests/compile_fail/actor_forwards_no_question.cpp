// SPDX-License-Identifier: Apache-2.0
// expect-error: only a message with a `reply` type can be asked
// `forward` passes on, as a question, a message that is not a question.
#include "sennit/actor.hpp"

struct note {};
struct get {
    using reply = int;
};

void use(sennit::actor_ref<sennit::accepts<note, get>> to) {
    to.forward(get{}, sennit::reply_to<int>());
#ifdef SENNIT_EXPECT_ERROR
    to.forward(note{}, sennit::reply_to<void>());
#endif
}
