// SPDX-License-Identifier: Apache-2.0
// expect-error: movable without exceptions
// The move constructor of a message may throw.
#include "sennit/actor.hpp"

struct careful {
    careful() = default;
#ifdef SENNIT_EXPECT_ERROR
    careful(careful&&) noexcept(false) {}
#else
    careful(careful&&) noexcept {}
#endif
};
struct servant : sennit::actor<servant, careful> {
    void on(careful) {}
};

void use(sennit::actor_ref<servant> to) {
    to.tell(careful());
}
