// SPDX-License-Identifier: Apache-2.0
// expect-error: sennit: the source of par::pipeline is called without arguments and returns
// The source of a pipeline says where the stream ends.
#include "sennit/par.hpp"

#include <optional>

void use() {
#ifdef SENNIT_EXPECT_ERROR
    auto source = [] { return 1; };
#else
    auto source = [] { return std::optional<int>(); };
#endif
    sennit::par::pipeline(4, source, sennit::par::parallel([](int) {}));
}
