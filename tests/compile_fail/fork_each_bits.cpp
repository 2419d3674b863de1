// SPDX-License-Identifier: Apache-2.0
// expect-error: fork_each cannot write to a std::vector<bool>: its elements share words
// Tasks that write neighbouring elements of a std::vector<bool> would overwrite each other.
#include "sennit/fork_each.hpp"

#include <vector>

std::vector<bool> flags(64);
std::vector<char> bytes(64);

void use() {
    const auto odd = [](std::size_t i) { return i % 2 == 1; };
#ifdef SENNIT_EXPECT_ERROR
    sennit::fork_each(64, odd, flags.begin());
#else
    sennit::fork_each(64, odd, bytes.begin());
#endif
}
