// SPDX-License-Identifier: Apache-2.0
// expect-error: random_access_range|no matching function
// Halves of a range are found by position, which a list does not have.
#include "sennit/fork_each.hpp"

#include <list>
#include <vector>

void use() {
#ifdef SENNIT_EXPECT_ERROR
    std::list<int> numbers(4);
#else
    std::vector<int> numbers(4);
#endif
    sennit::fork_each(numbers, [](int& number) { ++number; });
}
