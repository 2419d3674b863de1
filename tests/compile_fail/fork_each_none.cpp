// SPDX-License-Identifier: Apache-2.0
// expect-error: fork_each<Count> needs at least one index
// fork_each<0> would return an array without results, which is of no use.
#include "sennit/fork_each.hpp"

void use() {
#ifdef SENNIT_EXPECT_ERROR
    sennit::fork_each<0>([](std::size_t i) { return i; });
#else
    sennit::fork_each<1>([](std::size_t i) { return i; });
#endif
}
