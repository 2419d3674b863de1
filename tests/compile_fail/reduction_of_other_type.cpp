// SPDX-License-Identifier: Apache-2.0
// expect-error: sennit: par::transform_reduce takes the elements, init, `reduce`
// The result of a reduction must have the type of its initial value.
#include "sennit/par.hpp"

#include <string>
#include <vector>

void use() {
    std::vector<int> numbers(4);
    auto itself = [](int number) { return number; };
#ifdef SENNIT_EXPECT_ERROR
    auto joined = [](int, int) { return std::string(); };
#else
    auto joined = [](int a, int b) { return a + b; };
#endif
    (void)sennit::par::transform_reduce(numbers.begin(), numbers.end(), 0, joined, itself);
}
