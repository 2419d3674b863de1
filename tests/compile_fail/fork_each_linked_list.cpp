// SPDX-License-Identifier: Apache-2.0
// expect-error: sennit: fork_each needs random access to the elements, and their number; copy
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
