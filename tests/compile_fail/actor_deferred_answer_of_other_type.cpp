// SPDX-License-Identifier: Apache-2.0
// expect-error: has no handler
// A handler takes the duty to give an answer of another type than the message's `reply`.
#include "sennit/actor.hpp"

struct get {
    using reply = int;
};
struct text {};
struct servant : sennit::actor<servant, get> {
#ifdef SENNIT_EXPECT_ERROR
    void on(get, sennit::reply_to<text>) {}
#else
    void on(get, sennit::reply_to<int>) {}
#endif
};

void use(sennit::actor_group& group) {
    group.spawn<servant>();
}
