// SPDX-License-Identifier: Apache-2.0
// expect-error: so a topic's message is copyable
// A topic has several receivers, but its message can only move.
#include "sennit/actor.hpp"

#include <memory>

struct shared {
    std::shared_ptr<const int> one;
};
struct own {
    std::unique_ptr<int> one;
};
sennit::topic<shared> good;
#ifdef SENNIT_EXPECT_ERROR
sennit::topic<own> bad;
#endif
