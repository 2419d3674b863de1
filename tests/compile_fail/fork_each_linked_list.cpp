// SPDX-License-Identifier: Apache-2.0
// expect-error: random_access_range|no matching function
// fork_each finds the halves of a range by position; a list has no access by position.
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
