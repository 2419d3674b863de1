// SPDX-License-Identifier: Apache-2.0
// expect-error: deleted
// Children refer to their scope by its address, so a scope cannot move.
#include "sennit/scope.hpp"

#include <utility>

void use() {
    sennit::scope one;
    one.spawn([] {});
#ifdef SENNIT_EXPECT_ERROR
    sennit::scope two = std::move(one);
#endif
    one.join();
}
