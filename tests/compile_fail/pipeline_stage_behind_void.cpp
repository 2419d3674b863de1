// SPDX-License-Identifier: Apache-2.0
// expect-error: sennit: behind its source, par::pipeline takes one or more stages made by
// A stage takes the result of the stage before it.
#include "sennit/par.hpp"

#include <optional>

void use() {
    auto source = [] { return std::optional<int>(); };
#ifdef SENNIT_EXPECT_ERROR
    auto first = [](int) {};
#else
    auto first = [](int i) { return i; };
#endif
    sennit::par::pipeline(4, source, sennit::par::parallel(first),
                          sennit::par::in_order([](int) {}));
}
