// SPDX-License-Identifier: Apache-2.0
// expect-error: `reply` is no reference
// The reply type of a question is a reference.
#include "sennit/actor.hpp"

struct value {
#ifdef SENNIT_EXPECT_ERROR
    using reply = int&;
#else
    using reply = int;
#endif
};
struct servant : sennit::actor<servant, value> {
    value::reply on(value) { return held; }
    int held = 0;
};

void use(sennit::actor_ref<servant> to) {
    to.ask(value{});
}
