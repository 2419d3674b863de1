// SPDX-License-Identifier: Apache-2.0
// expect-error: sennit: fork_join runs two or more functions; call a single function directly
// fork_join takes two callables or more: a single callable has no task to run beside.
#include "sennit/fork_join.hpp"

void use() {
    auto work = [] {};
#ifdef SENNIT_EXPECT_ERROR
    sennit::fork_join(work);
#else
    sennit::fork_join(work, work);
#endif
}
