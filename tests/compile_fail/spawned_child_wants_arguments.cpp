// SPDX-License-Identifier: Apache-2.0
// expect-error: sennit: scope::spawn calls the function without arguments; capture
// The children of a scope take no arguments.
#include "sennit/scope.hpp"

void use() {
    sennit::scope scope;
#ifdef SENNIT_EXPECT_ERROR
    scope.spawn([](int) {});
#else
    scope.spawn([] {});
#endif
    scope.join();
}
