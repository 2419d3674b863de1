// SPDX-License-Identifier: Apache-2.0
// expect-error: a question is put aside with the duty to answer it
// The actor stashes a question without the duty to answer it.
#include "sennit/actor.hpp"

#include <utility>

struct get {
    using reply = int;
};
struct keeper : sennit::stashing_actor<keeper, get> {
    void on(get m, sennit::reply_to<int> answer) {
#ifdef SENNIT_EXPECT_ERROR
        stash(m);
#endif
        stash(m, std::move(answer));
    }
};

void use(sennit::actor_group& group) {
    group.spawn<keeper>().tell(get{});
}
