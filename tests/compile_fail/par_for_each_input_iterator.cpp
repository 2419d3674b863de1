// SPDX-License-Identifier: Apache-2.0
// expect-error: sennit: a parallel algorithm needs random access to the elements and their number
// A parallel loop jumps to the middle of its range.
#include "sennit/par.hpp"

#include <forward_list>
#include <vector>

void use() {
#ifdef SENNIT_EXPECT_ERROR
    std::forward_list<int> numbers(4);
#else
    std::vector<int> numbers(4);
#endif
    sennit::par::for_each(numbers.begin(), numbers.end(), [](int& number) { ++number; });
}
