// SPDX-License-Identifier: Apache-2.0
// The kernels of cilk/main.hpp as coroutines of TooManyCooks. Of two children with
// results the first is forked and the second is awaited inline; other children are a group.
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

using problem = lab::knapsack_items;

tmc::task<int> knapsack(const problem::item* next, const problem::item* end, int room, int value) {
    if (problem::ends(next, end, room, value))
        co_return problem::ended_with(next, end, room, value);
    auto forked = tmc::spawn(knapsack(next + 1, end, room, value)).fork();
    const int with = co_await knapsack(next + 1, end, room - next->weight, value + next->value);
    const int without = co_await std::move(forked);
    const int result = std::max(without, with);
    problem::offer(result);
    co_return result;
}

using lab::sorting;

tmc::task<void> merge(sorting::range a, sorting::range b, sorting::number* to) {
    if (a.size() < b.size()) std::swap(a, b);
    if (b.size() < sorting::serial_merge) {
        sorting::merge_serially(a, b, to);
        co_return;
    }
    const sorting::two_merges two = sorting::split(a, b, to);
    co_await tmc::spawn_tuple(merge(two.a1, two.b1, to), merge(two.a2, two.b2, two.to2));
}

tmc::task<void> cilksort(sorting::number* numbers, sorting::number* second, std::ptrdiff_t size) {
    if (size < sorting::serial_sort) {
        sorting::quicksort(numbers, numbers + size);
        co_return;
    }
    const sorting::quarters at(numbers, second, size);
    co_await tmc::spawn_tuple(
        cilksort(numbers, second, at.quarter), cilksort(at.b, second + at.quarter, at.quarter),
        cilksort(at.c, at.half, at.quarter), cilksort(at.d, at.half + at.quarter, at.end - at.d));
    co_await tmc::spawn_tuple(merge(at.range_a(), at.range_b(), second),
                              merge(at.range_c(), at.range_d(), at.half));
    co_await merge(at.first_half(), at.second_half(), numbers);
}

using matrices = lab::strassen_matrices;

tmc::task<void> strassen(matrices::block a, matrices::block b, matrices::block c, int n) {
    if (n <= matrices::leaf) {
        matrices::multiply_leaf(a, b, c, n);
        co_return;
    }
    const matrices::products all(a, b, c, n);
    const auto one = [&all](std::size_t i) {
        return strassen(all.factors[i].a, all.factors[i].b, all.factors[i].to, all.half);
    };
    co_await tmc::spawn_tuple(one(0), one(1), one(2), one(3), one(4), one(5), one(6));
    all.combine();
}

using grid = lab::heat_grid;

tmc::task<void> heat(grid::step step, int first, int last) {
    if (last - first <= grid::leaf) {
        grid::columns(step, first, last);
        co_return;
    }
    const int middle = first + (last - first) / 2;
    co_await tmc::spawn_tuple(heat(step, first, middle), heat(step, middle, last));
}

tmc::task<void> heat_steps(const grid* whole) {
    for (int number = 0; number < grid::steps; ++number)
        co_await heat(whole->at(number), 1, whole->n - 1);
}

using matrix = lab::lu_matrix;

tmc::task<void> update(matrix::part m, matrix::part v, matrix::part w, int blocks) {
    if (blocks == 1) {
        matrix::update_block(m, v, w);
        co_return;
    }
    const int half = blocks / 2;
    const matrix::quadrants a(m, half), b(v, half), c(w, half);
    co_await tmc::spawn_tuple(update(a.p00, b.p00, c.p00, half), update(a.p01, b.p00, c.p01, half),
                              update(a.p10, b.p10, c.p00, half), update(a.p11, b.p10, c.p01, half));
    co_await tmc::spawn_tuple(update(a.p00, b.p01, c.p10, half), update(a.p01, b.p01, c.p11, half),
                              update(a.p10, b.p11, c.p10, half), update(a.p11, b.p11, c.p11, half));
}

tmc::task<void> solve_lower(matrix::part m, matrix::part l, int blocks) {
    if (blocks == 1) {
        matrix::solve_lower_block(m, l);
        co_return;
    }
    const int half = blocks / 2;
    const matrix::quadrants a(m, half), b(l, half);
    co_await tmc::spawn_tuple(solve_lower(a.p00, b.p00, half), solve_lower(a.p01, b.p00, half));
    co_await tmc::spawn_tuple(update(a.p10, b.p10, a.p00, half), update(a.p11, b.p10, a.p01, half));
    co_await tmc::spawn_tuple(solve_lower(a.p10, b.p11, half), solve_lower(a.p11, b.p11, half));
}

tmc::task<void> solve_upper(matrix::part m, matrix::part u, int blocks) {
    if (blocks == 1) {
        matrix::solve_upper_block(m, u);
        co_return;
    }
    const int half = blocks / 2;
    const matrix::quadrants a(m, half), b(u, half);
    co_await tmc::spawn_tuple(solve_upper(a.p00, b.p00, half), solve_upper(a.p10, b.p00, half));
    co_await tmc::spawn_tuple(update(a.p01, a.p00, b.p01, half), update(a.p11, a.p10, b.p01, half));
    co_await tmc::spawn_tuple(solve_upper(a.p01, b.p11, half), solve_upper(a.p11, b.p11, half));
}

tmc::task<void> lu(matrix::part m, int blocks) {
    if (blocks == 1) {
        matrix::factorise_block(m);
        co_return;
    }
    const int half = blocks / 2;
    const matrix::quadrants a(m, half);
    co_await lu(a.p00, half);
    co_await tmc::spawn_tuple(solve_lower(a.p01, a.p00, half), solve_upper(a.p10, a.p00, half));
    co_await update(a.p11, a.p10, a.p01, half);
    co_await lu(a.p11, half);
}

using transform = lab::fft_data;

template <auto Work>
tmc::task<void> halve(const transform::node* at, std::size_t first, std::size_t last) {
    if (last - first <= transform::range) {
        Work(*at, first, last);
        co_return;
    }
    const std::size_t middle = first + (last - first) / 2;
    co_await tmc::spawn_tuple(halve<Work>(at, first, middle), halve<Work>(at, middle, last));
}

tmc::task<void> fft(transform::node at) {
    if (at.size <= transform::leaf) {
        transform::transform_leaf(at);
        co_return;
    }
    co_await halve<transform::gather>(&at, 0, at.quarter());
    co_await tmc::spawn_tuple(fft(at.child(0)), fft(at.child(1)), fft(at.child(2)),
                              fft(at.child(3)));
    co_await halve<transform::combine>(&at, 0, at.quarter());
}

} // namespace

template <>
double lab::integrate<with_tmc>::root() const {
    return with_tmc::wait(::integrate(0, 0, size.n, f(size.n), 0));
}

template <>
std::int64_t lab::knapsack<with_tmc>::run() const {
    return with_tmc::wait(::knapsack(items.data(), items.data() + items.size(), room, 0));
}
template <>
void lab::cilksort<with_tmc>::sort(number* numbers, number* second, std::ptrdiff_t size) {
    with_tmc::wait(::cilksort(numbers, second, size));
}

template <>
void lab::strassen<with_tmc>::node(block a, block b, block c, int n) {
    with_tmc::wait(::strassen(a, b, c, n));
}
template <>
std::int64_t lab::heat<with_tmc>::run() const {
    with_tmc::wait(heat_steps(this));
    return 0;
}

template <>
std::int64_t lab::lu<with_tmc>::run() const {
    with_tmc::wait(::lu(whole(), blocks()));
    return 0;
}

template <>
std::int64_t lab::fft<with_tmc>::run() const {
    with_tmc::wait(::fft(root()));
    return 0;
}

std::optional<int> lab::run_cilk(const std::string& name, const std::string& size,
                                 unsigned threads) {
    return cilk<with_tmc>::run(name, size, threads);
}
