// SPDX-License-Identifier: Apache-2.0
// expect-error: is a reference, a view or a raw pointer
// A message contains a view into the sender's memory.
#include "sennit/actor.hpp"

#include <string>
#include <string_view>

struct line {
#ifdef SENNIT_EXPECT_ERROR
    std::string_view text;
#else
    std::string text;
#endif
    int number;
};
struct servant : sennit::actor<servant, line> {
    void on(line) {}
};

void use(sennit::actor_ref<servant> to) {
    to.tell(line{"text", 1});
}
