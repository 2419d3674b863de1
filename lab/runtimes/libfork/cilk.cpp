// SPDX-License-Identifier: Apache-2.0
// The kernels of cilk/main.hpp as coroutines of libfork. The last child is called, not forked.
#include "cilk/main.hpp"

#include "with_libfork.hpp"

namespace {

using lab::quadrature;

inline constexpr auto integrate = [](auto self, double x1, double y1, double x2, double y2,
                                     double area) -> lf::task<double> {
    const quadrature::halves two = quadrature::halve(x1, y1, x2, y2);
    if (two.accurate(area)) co_return two.sum();
    double a, b;
    co_await lf::fork(&a, self)(x1, y1, two.x, two.y, two.left);
    co_await lf::call(&b, self)(two.x, two.y, x2, y2, two.right);
    co_await lf::join;
    co_return a + b;
};

} // namespace

template <>
double lab::integrate<with_libfork>::root() const {
    return lf::sync_wait(*with_libfork::current, ::integrate, 0.0, 0.0, 1.0 * size.n, f(size.n),
                         0.0);
}

std::optional<int> lab::run_cilk(const std::string& name, const std::string& size,
                                 unsigned threads) {
    return cilk<with_libfork>::run(name, size, threads);
}
