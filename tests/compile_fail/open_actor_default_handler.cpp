// SPDX-License-Identifier: Apache-2.0
// expect-error: a default handler takes
// A default handler takes a message type instead of `dead_letter`.
#include "sennit/actor.hpp"

struct note {};
struct servant : sennit::open_actor<servant> {
    servant() {
        set_default_handler([](const sennit::dead_letter&) {});
#ifdef SENNIT_EXPECT_ERROR
        set_default_handler([](const note&) {});
#endif
    }
};
