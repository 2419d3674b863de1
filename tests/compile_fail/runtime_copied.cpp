// SPDX-License-Identifier: Apache-2.0
// expect-error: deleted
// A runtime owns threads, so it can neither be copied nor moved.
#include "sennit/runtime.hpp"

#include <utility>

void use() {
    sennit::runtime one;
#ifdef SENNIT_EXPECT_ERROR
    sennit::runtime two = std::move(one);
#endif
}
