// SPDX-License-Identifier: Apache-2.0
// expect-error: no constructor for these arguments
// No constructor of a child's class takes the arguments that the supervisor stores.
#include "sennit/actor.hpp"

struct ping {};
struct keeper : sennit::actor<keeper, ping> {
    explicit keeper(int) {}
    void on(ping) {}
};
sennit::child<keeper> good({}, 1);
#ifdef SENNIT_EXPECT_ERROR
sennit::child<keeper> bad({}, "one");
#endif
