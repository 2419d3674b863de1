// SPDX-License-Identifier: Apache-2.0
// The program of every consumer project: both entrances to a runtime, one fork-join, and fibers
// that wait for each other.
#include <cstdio>
#include <sennit/sennit.hpp>
#include <string_view>

namespace {

long fib(int n) {
    if (n < 2) return n;
    auto [a, b] = sennit::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
    return a + b;
}

int sum_of_messages() {
    sennit::channel<int> numbers;
    sennit::fiber sender([&] {
        for (int i = 1; i <= 10; ++i) numbers.push(i);
        numbers.close();
    });
    int sum = 0;
    for (const int each : numbers) sum += each;
    sender.join();
    return sum;
}

#ifdef PACKAGE_VERSION // the version of the CMake package, which the header must name, too
static_assert(std::string_view(SENNIT_VERSION_STRING) == PACKAGE_VERSION);
#endif
static_assert(SENNIT_VERSION >= 100); // 0.1.0

} // namespace

int main() {
    const long by_default = sennit::run([] { return fib(20); });
    sennit::runtime two_workers({.workers = 2});
    const long by_own = two_workers.run([] { return fib(20); });
    const int sum = two_workers.run([] { return sum_of_messages(); });
    std::printf("fib(20) = %ld, %ld\n", by_default, by_own);
    return by_default == 6765 && by_own == 6765 && sum == 55 ? 0 : 1;
}
