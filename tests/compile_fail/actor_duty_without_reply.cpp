// SPDX-License-Identifier: Apache-2.0
// expect-error: takes the duty to answer, but the message has no
// A handler takes the duty to answer a message that is not a question.
#include "sennit/actor.hpp"

#include <utility>

struct known {
#ifndef SENNIT_EXPECT_ERROR
    using reply = int;
#endif
};
struct servant : sennit::actor<servant, known> {
    void on(known, sennit::reply_to<int> answer) { answer.set(1); }
};

void use(sennit::actor_group& group) {
    group.spawn<servant>().tell(known{});
}
