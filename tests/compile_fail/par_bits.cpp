// SPDX-License-Identifier: Apache-2.0
// expect-error: sennit: a parallel algorithm cannot write to a std::vector<bool>, because its elem
// Workers that write neighbouring elements of a std::vector<bool> would overwrite each other.
#include "sennit/par.hpp"

#include <utility>
#include <vector>

void use(std::vector<bool>& flags, std::vector<char>& bytes) {
    const auto visit = [](auto&& flag) { flag = true; };
    const auto look = [](bool) {};
#ifdef SENNIT_EXPECT_ERROR
    sennit::par::for_each(flags, visit);
#else
    sennit::par::for_each(bytes, visit);
#endif
    sennit::par::for_each(std::as_const(flags), look);
}
