// SPDX-License-Identifier: Apache-2.0
// expect-error: the handler's answer is not
// The handler of a question returns nothing.
#include "sennit/actor.hpp"

struct get {
    using reply = int;
};
struct servant : sennit::actor<servant, get> {
#ifdef SENNIT_EXPECT_ERROR
    void on(get) {}
#else
    int on(get) { return 1; }
#endif
};

void use(sennit::actor_group& group) {
    group.spawn<servant>();
}
