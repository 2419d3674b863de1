// SPDX-License-Identifier: Apache-2.0
// expect-error: `reply` is a view or a raw pointer
// The reply type is a view, which refers to memory of the answering actor.
#include "sennit/actor.hpp"

#include <string>
#include <string_view>

struct title {
#ifdef SENNIT_EXPECT_ERROR
    using reply = std::string_view;
#else
    using reply = std::string;
#endif
};
struct servant : sennit::actor<servant, title> {
    title::reply on(title) { return "servant"; }
};

void use(sennit::actor_group& group) {
    group.spawn<servant>();
}
