// SPDX-License-Identifier: Apache-2.0
// expect-error: sennit: task_graph::add takes a function, then par::uses.tokens. if wanted
// A node is called with the results of its inputs.
#include "sennit/par.hpp"

#include <string>

void use() {
    sennit::par::task_graph g;
    auto number = g.add([] { return 1; });
#ifdef SENNIT_EXPECT_ERROR
    g.add([](const std::string&) {}, number);
#else
    g.add([](const int&) {}, number);
#endif
}
