// SPDX-License-Identifier: Apache-2.0
// expect-error: does not say what it handles
// A handler with an `auto` parameter does not name its message.
#include "sennit/actor.hpp"

struct note {};
struct servant : sennit::open_actor<servant> {
    servant() {
        add_handler<note>([](const auto&) {});
#ifdef SENNIT_EXPECT_ERROR
        add_handler([](const auto&) {});
#endif
    }
};
