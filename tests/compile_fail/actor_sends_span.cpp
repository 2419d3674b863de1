// SPDX-License-Identifier: Apache-2.0
// expect-error: a view is no message
// The message is itself a view.
#include "sennit/actor.hpp"

#include <span>
#include <vector>

struct servant : sennit::open_actor<servant> {};

void use(sennit::actor_ref<servant> to, std::vector<int>& numbers) {
    to.tell(numbers);
#ifdef SENNIT_EXPECT_ERROR
    to.tell(std::span<int>(numbers));
#endif
}
