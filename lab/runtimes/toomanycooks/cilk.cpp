// SPDX-License-Identifier: Apache-2.0
// The kernels of cilk/main.hpp as coroutines of TooManyCooks. Of two children the first is forked
// and the second is awaited inline.
#include "cilk/main.hpp"

#include "with_tmc.hpp"

namespace {

using lab::quadrature;

tmc::task<double> integrate(double x1, double y1, double x2, double y2, double area) {
    const quadrature::halves two = quadrature::halve(x1, y1, x2, y2);
    if (two.accurate(area)) co_return two.sum();
    auto forked = tmc::spawn(integrate(x1, y1, two.x, two.y, two.left)).fork();
    const double b = co_await integrate(two.x, two.y, x2, y2, two.right);
    const double a = co_await std::move(forked);
    co_return a + b;
}

} // namespace

template <>
double lab::integrate<with_tmc>::root() const {
    return with_tmc::wait(::integrate(0, 0, size.n, f(size.n), 0));
}

std::optional<int> lab::run_cilk(const std::string& name, const std::string& size,
                                 unsigned threads) {
    return cilk<with_tmc>::run(name, size, threads);
}
