// SPDX-License-Identifier: Apache-2.0
// expect-error: has no `using reply
// A handler registered at run time returns an answer to a message that is not a question.
#include "sennit/actor.hpp"

struct note {};
struct servant : sennit::open_actor<servant> {
#ifdef SENNIT_EXPECT_ERROR
    int take(const note&) { return 1; }
#else
    void take(const note&) {}
#endif
    servant() { add_handler(&servant::take); }
};
