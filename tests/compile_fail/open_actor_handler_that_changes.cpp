// SPDX-License-Identifier: Apache-2.0
// expect-error: a handler takes the message as
// A handler takes its message by a reference through which it could change the message.
#include "sennit/actor.hpp"

struct note {};
struct servant : sennit::open_actor<servant> {
    servant() {
        add_handler([](const note&) {});
#ifdef SENNIT_EXPECT_ERROR
        add_handler([](note&) {});
#endif
    }
};
