// SPDX-License-Identifier: Apache-2.0
// expect-error: a state has no handler for a message of the protocol
// One of the states neither handles nor postpones a message of the protocol.
#include "sennit/actor.hpp"

struct ping {};
struct off {
    using postpones = sennit::accepts<ping>;
};
struct on_now {};
struct lamp : sennit::state_machine<lamp, sennit::states<off>, ping> {};
#ifdef SENNIT_EXPECT_ERROR
struct lantern : sennit::state_machine<lantern, sennit::states<off, on_now>, ping> {};
#else
struct lantern : sennit::state_machine<lantern, sennit::states<off, on_now>, ping> {
    void on(on_now&, ping) {}
};
#endif

void use(sennit::actor_group& group) {
    group.spawn<lamp>().tell(ping{});
    group.spawn<lantern>().tell(ping{});
}
