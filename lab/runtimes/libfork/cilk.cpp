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

using problem = lab::knapsack_items;

inline constexpr auto knapsack = [](auto self, const problem::item* next, const problem::item* end,
                                    int room, int value) -> lf::task<int> {
    if (problem::ends(next, end, room, value))
        co_return problem::ended_with(next, end, room, value);
    int without, with;
    co_await lf::fork(&without, self)(next + 1, end, room, value);
    co_await lf::call(&with, self)(next + 1, end, room - next->weight, value + next->value);
    co_await lf::join;
    const int result = std::max(without, with);
    problem::offer(result);
    co_return result;
};

using lab::sorting;

inline constexpr auto merge = [](auto self, sorting::range a, sorting::range b,
                                 sorting::number* to) -> lf::task<void> {
    if (a.size() < b.size()) std::swap(a, b);
    if (b.size() < sorting::serial_merge) {
        sorting::merge_serially(a, b, to);
        co_return;
    }
    const sorting::two_merges two = sorting::split(a, b, to);
    co_await lf::fork(self)(two.a1, two.b1, to);
    co_await lf::call(self)(two.a2, two.b2, two.to2);
    co_await lf::join;
};

inline constexpr auto cilksort = [](auto self, sorting::number* numbers, sorting::number* second,
                                    std::ptrdiff_t size) -> lf::task<void> {
    if (size < sorting::serial_sort) {
        sorting::quicksort(numbers, numbers + size);
        co_return;
    }
    const sorting::quarters at(numbers, second, size);
    co_await lf::fork(self)(numbers, second, at.quarter);
    co_await lf::fork(self)(at.b, second + at.quarter, at.quarter);
    co_await lf::fork(self)(at.c, at.half, at.quarter);
    co_await lf::call(self)(at.d, at.half + at.quarter, at.end - at.d);
    co_await lf::join;
    co_await lf::fork(merge)(at.range_a(), at.range_b(), second);
    co_await lf::call(merge)(at.range_c(), at.range_d(), at.half);
    co_await lf::join;
    co_await lf::call(merge)(at.first_half(), at.second_half(), numbers);
    co_await lf::join;
};

using matrices = lab::strassen_matrices;

inline constexpr auto strassen = [](auto self, matrices::block a, matrices::block b,
                                    matrices::block c, int n) -> lf::task<void> {
    if (n <= matrices::leaf) {
        matrices::multiply_leaf(a, b, c, n);
        co_return;
    }
    const matrices::products all(a, b, c, n);
    for (std::size_t i = 0; i + 1 < all.count; ++i)
        co_await lf::fork(self)(all.factors[i].a, all.factors[i].b, all.factors[i].to, all.half);
    const auto& last = all.factors[all.count - 1];
    co_await lf::call(self)(last.a, last.b, last.to, all.half);
    co_await lf::join;
    all.combine();
};

using grid = lab::heat_grid;

inline constexpr auto heat = [](auto self, grid::step step, int first, int last) -> lf::task<void> {
    if (last - first <= grid::leaf) {
        grid::columns(step, first, last);
        co_return;
    }
    const int middle = first + (last - first) / 2;
    co_await lf::fork(self)(step, first, middle);
    co_await lf::call(self)(step, middle, last);
    co_await lf::join;
};

inline constexpr auto heat_steps = [](auto, const grid* whole) -> lf::task<void> {
    for (int number = 0; number < grid::steps; ++number) {
        co_await lf::call(heat)(whole->at(number), 1, whole->n - 1);
        co_await lf::join;
    }
};

using matrix = lab::lu_matrix;

inline constexpr auto update = [](auto self, matrix::part m, matrix::part v, matrix::part w,
                                  int blocks) -> lf::task<void> {
    if (blocks == 1) {
        matrix::update_block(m, v, w);
        co_return;
    }
    const int half = blocks / 2;
    const matrix::quadrants a(m, half), b(v, half), c(w, half);
    co_await lf::fork(self)(a.p00, b.p00, c.p00, half);
    co_await lf::fork(self)(a.p01, b.p00, c.p01, half);
    co_await lf::fork(self)(a.p10, b.p10, c.p00, half);
    co_await lf::call(self)(a.p11, b.p10, c.p01, half);
    co_await lf::join;
    co_await lf::fork(self)(a.p00, b.p01, c.p10, half);
    co_await lf::fork(self)(a.p01, b.p01, c.p11, half);
    co_await lf::fork(self)(a.p10, b.p11, c.p10, half);
    co_await lf::call(self)(a.p11, b.p11, c.p11, half);
    co_await lf::join;
};

inline constexpr auto solve_lower = [](auto self, matrix::part m, matrix::part l,
                                       int blocks) -> lf::task<void> {
    if (blocks == 1) {
        matrix::solve_lower_block(m, l);
        co_return;
    }
    const int half = blocks / 2;
    const matrix::quadrants a(m, half), b(l, half);
    co_await lf::fork(self)(a.p00, b.p00, half);
    co_await lf::call(self)(a.p01, b.p00, half);
    co_await lf::join;
    co_await lf::fork(update)(a.p10, b.p10, a.p00, half);
    co_await lf::call(update)(a.p11, b.p10, a.p01, half);
    co_await lf::join;
    co_await lf::fork(self)(a.p10, b.p11, half);
    co_await lf::call(self)(a.p11, b.p11, half);
    co_await lf::join;
};

inline constexpr auto solve_upper = [](auto self, matrix::part m, matrix::part u,
                                       int blocks) -> lf::task<void> {
    if (blocks == 1) {
        matrix::solve_upper_block(m, u);
        co_return;
    }
    const int half = blocks / 2;
    const matrix::quadrants a(m, half), b(u, half);
    co_await lf::fork(self)(a.p00, b.p00, half);
    co_await lf::call(self)(a.p10, b.p00, half);
    co_await lf::join;
    co_await lf::fork(update)(a.p01, a.p00, b.p01, half);
    co_await lf::call(update)(a.p11, a.p10, b.p01, half);
    co_await lf::join;
    co_await lf::fork(self)(a.p01, b.p11, half);
    co_await lf::call(self)(a.p11, b.p11, half);
    co_await lf::join;
};

inline constexpr auto lu = [](auto self, matrix::part m, int blocks) -> lf::task<void> {
    if (blocks == 1) {
        matrix::factorise_block(m);
        co_return;
    }
    const int half = blocks / 2;
    const matrix::quadrants a(m, half);
    co_await lf::call(self)(a.p00, half);
    co_await lf::join;
    co_await lf::fork(solve_lower)(a.p01, a.p00, half);
    co_await lf::call(solve_upper)(a.p10, a.p00, half);
    co_await lf::join;
    co_await lf::call(update)(a.p11, a.p10, a.p01, half);
    co_await lf::join;
    co_await lf::call(self)(a.p11, half);
    co_await lf::join;
};

using transform = lab::fft_data;

template <auto Work>
inline constexpr auto halve = [](auto self, const transform::node* at, std::size_t first,
                                 std::size_t last) -> lf::task<void> {
    if (last - first <= transform::range) {
        Work(*at, first, last);
        co_return;
    }
    const std::size_t middle = first + (last - first) / 2;
    co_await lf::fork(self)(at, first, middle);
    co_await lf::call(self)(at, middle, last);
    co_await lf::join;
};

inline constexpr auto fft = [](auto self, transform::node at) -> lf::task<void> {
    if (at.size <= transform::leaf) {
        transform::transform_leaf(at);
        co_return;
    }
    const transform::node* const here = &at;
    co_await lf::call(halve<transform::gather>)(here, std::size_t{0}, at.quarter());
    co_await lf::join;
    for (std::size_t i = 0; i < 3; ++i) co_await lf::fork(self)(at.child(i));
    co_await lf::call(self)(at.child(3));
    co_await lf::join;
    co_await lf::call(halve<transform::combine>)(here, std::size_t{0}, at.quarter());
    co_await lf::join;
};

} // namespace

template <>
double lab::integrate<with_libfork>::root() const {
    return lf::sync_wait(*with_libfork::current, ::integrate, 0.0, 0.0, 1.0 * size.n, f(size.n),
                         0.0);
}

template <>
std::int64_t lab::knapsack<with_libfork>::run() const {
    return lf::sync_wait(*with_libfork::current, ::knapsack, items.data(),
                         items.data() + items.size(), room, 0);
}
template <>
void lab::cilksort<with_libfork>::sort(number* numbers, number* second, std::ptrdiff_t size) {
    lf::sync_wait(*with_libfork::current, ::cilksort, numbers, second, size);
}

template <>
void lab::strassen<with_libfork>::node(block a, block b, block c, int n) {
    lf::sync_wait(*with_libfork::current, ::strassen, a, b, c, n);
}
template <>
std::int64_t lab::heat<with_libfork>::run() const {
    lf::sync_wait(*with_libfork::current, heat_steps, static_cast<const heat_grid*>(this));
    return 0;
}

template <>
std::int64_t lab::lu<with_libfork>::run() const {
    lf::sync_wait(*with_libfork::current, ::lu, whole(), blocks());
    return 0;
}

template <>
std::int64_t lab::fft<with_libfork>::run() const {
    lf::sync_wait(*with_libfork::current, ::fft, root());
    return 0;
}

std::optional<int> lab::run_cilk(const std::string& name, const std::string& size,
                                 unsigned threads) {
    return cilk<with_libfork>::run(name, size, threads);
}
