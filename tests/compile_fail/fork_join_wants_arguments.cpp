// SPDX-License-Identifier: Apache-2.0
// expect-error: sennit: fork_join calls each function without arguments; capture
// The callables of fork_join take no arguments.
#include "sennit/fork_join.hpp"

void use() {
#ifdef SENNIT_EXPECT_ERROR
    auto work = [](int) {};
#else
    auto work = [] {};
#endif
    sennit::fork_join(work, work);
}
