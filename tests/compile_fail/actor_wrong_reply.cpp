// SPDX-License-Identifier: Apache-2.0
// expect-error: is not the message's `reply`
// A handler's answer has another type than the `reply` of the question.
#include "sennit/actor.hpp"

#include <string>

struct ask {
    using reply = int;
};
struct servant : sennit::actor<servant, ask> {
#ifdef SENNIT_EXPECT_ERROR
    std::string on(ask) { return "no number"; }
#else
    int on(ask) { return 1; }
#endif
};

void use(sennit::actor_group& group) {
    group.spawn<servant>();
}
