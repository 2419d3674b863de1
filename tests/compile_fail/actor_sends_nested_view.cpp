// SPDX-License-Identifier: Apache-2.0
// expect-error: is a reference, a view or a raw pointer
// A member of a message contains a view.
#include "sennit/actor.hpp"

#include <optional>
#include <string>
#include <string_view>

struct named {
#ifdef SENNIT_EXPECT_ERROR
    std::optional<std::string_view> name;
#else
    std::optional<std::string> name;
#endif
};
struct lookup {
    int n;
    named what;
};
struct servant : sennit::actor<servant, lookup> {
    void on(lookup) {}
};

void use(sennit::actor_group& group) {
    group.spawn<servant>();
}
