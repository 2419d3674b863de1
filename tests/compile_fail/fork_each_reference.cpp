// SPDX-License-Identifier: Apache-2.0
// expect-error: fork_each cannot keep references
// No vector holds references, so fork_each names the type to return instead.
#include "sennit/fork_each.hpp"

#include <vector>

std::vector<int> numbers(4);

void use() {
#ifdef SENNIT_EXPECT_ERROR
    sennit::fork_each(4, [](std::size_t i) -> int& { return numbers[i]; });
#else
    sennit::fork_each(4, [](std::size_t i) -> int* { return &numbers[i]; });
#endif
}
