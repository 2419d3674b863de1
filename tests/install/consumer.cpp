// SPDX-License-Identifier: Apache-2.0
// What every consumer project builds: both entrances to a runtime, and one fork-join.
#include <cstdio>
#include <sennit/sennit.hpp>

namespace {

long fib(int n) {
    if (n < 2) return n;
    auto [a, b] = sennit::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
    return a + b;
}

} // namespace

int main() {
    const long by_default = sennit::run([] { return fib(20); });
    sennit::runtime two_workers({.workers = 2});
    const long by_own = two_workers.run([] { return fib(20); });
    std::printf("fib(20) = %ld, %ld\n", by_default, by_own);
    return by_default == 6765 && by_own == 6765 ? 0 : 1;
}
