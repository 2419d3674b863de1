// SPDX-License-Identifier: Apache-2.0
// expect-error: none of the state machine's states
// A state machine becomes a type that is none of its states.
#include "sennit/actor.hpp"

struct ping {};
struct off {};
struct elsewhere {};
struct lamp : sennit::state_machine<lamp, sennit::states<off>, ping> {
    void on(off&, ping) {
        become(off{});
#ifdef SENNIT_EXPECT_ERROR
        become(elsewhere{});
#endif
    }
};

void use(sennit::actor_group& group) {
    group.spawn<lamp>().tell(ping{});
}
