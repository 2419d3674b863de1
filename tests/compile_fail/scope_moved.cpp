// SPDX-License-Identifier: Apache-2.0
// expect-error: deleted
// Children know their scope by its address.
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
