// SPDX-License-Identifier: Apache-2.0
// expect-error: the handler's answer is not
// The answer of a handler registered at run time is not of the message's reply type.
#include "sennit/actor.hpp"

#include <string>

struct get {
    using reply = int;
};
struct servant : sennit::open_actor<servant> {
    servant() {
        add_handler([](const get&) { return 1; });
#ifdef SENNIT_EXPECT_ERROR
        add_handler([](const get&) { return std::string("one"); });
#endif
    }
};
