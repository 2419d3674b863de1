// SPDX-License-Identifier: Apache-2.0
// TooManyCooks: coroutines on its CPU executor. The children are forked, or spawned as a group, and
// the last child is awaited inline.
#include "main.hpp"

#define TMC_IMPL
#include "with_tmc.hpp"

#include <iterator>
#include <ranges>

namespace {

using lab::uts_node;
using lab::uts_tree;

tmc::task<std::int64_t> fib(int n) {
    if (n < 2) co_return n;
    auto forked = tmc::spawn(fib(n - 1)).fork();
    const std::int64_t b = co_await fib(n - 2);
    const std::int64_t a = co_await std::move(forked);
    co_return a + b;
}

tmc::task<std::int64_t> skynet(std::int64_t first, std::int64_t count) {
    if (count == 1) co_return first;
    const std::int64_t part = count / 10;
    auto children = std::ranges::views::iota(std::int64_t{0}, std::int64_t{10}) |
                    std::ranges::views::transform(
                        [=](std::int64_t i) { return skynet(first + i * part, part); });
    const std::array<std::int64_t, 10> results = co_await tmc::spawn_many<10>(children.begin());
    std::int64_t sum = 0;
    for (std::int64_t one : results) sum += one;
    co_return sum;
}

using queens = lab::nqueens<void>;

template <std::size_t N>
tmc::task<std::int64_t> nqueens(int column, queens::board<N> board) {
    if (column == static_cast<int>(N)) co_return 1;
    std::array<char, N> moves;
    const std::size_t count = queens::moves_at<N>(column, board, moves);
    auto children = std::ranges::views::iota(std::size_t{0}, count) |
                    std::ranges::views::transform([&board, &moves, column](std::size_t i) {
                        queens::board<N> next = board;
                        next[static_cast<std::size_t>(column)] = moves[i];
                        return nqueens<N>(column + 1, next);
                    });
    const auto results = co_await tmc::spawn_many<N>(children.begin(), children.end());
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += results[i];
    co_return sum;
}

tmc::task<void> matmul(const int* a, const int* b, int* c, int n, int stride) {
    if (n <= lab::matmul<void>::leaf) {
        lab::matmul<void>::multiply_leaf(a, b, c, n, stride);
        co_return;
    }
    const int k = n / 2;
    const int down = k * stride;
    co_await tmc::spawn_tuple(matmul(a, b, c, k, stride), matmul(a, b + k, c + k, k, stride),
                              matmul(a + down, b, c + down, k, stride),
                              matmul(a + down, b + k, c + down + k, k, stride));
    co_await tmc::spawn_tuple(matmul(a + k, b + down, c, k, stride),
                              matmul(a + k, b + down + k, c + k, k, stride),
                              matmul(a + down + k, b + down, c + down, k, stride),
                              matmul(a + down + k, b + down + k, c + down + k, k, stride));
}

tmc::task<std::int64_t> uts(const uts_tree* tree, uts_node at) {
    const std::size_t count = at.children(*tree);
    if (count == 0) co_return 1;
    auto children = std::ranges::views::iota(std::size_t{0}, count) |
                    std::ranges::views::transform(
                        [tree, &at](std::size_t i) { return uts(tree, at.child(i)); });
    const auto results = co_await tmc::spawn_many(children.begin(), children.end());
    std::int64_t sum = 1;
    for (std::int64_t one : results) sum += one;
    co_return sum;
}

} // namespace

template <>
std::int64_t lab::fib<with_tmc>::run() const {
    return with_tmc::wait(::fib(n));
}
template <>
std::int64_t lab::skynet<with_tmc>::run() const {
    return with_tmc::wait(::skynet(0, leaves(depth)));
}
template <>
template <std::size_t... N>
std::int64_t lab::nqueens<with_tmc>::dispatch(int n, std::index_sequence<N...>) {
    std::int64_t result = -1;
    ((static_cast<int>(N) + 1 == n
          ? void(result = with_tmc::wait(::nqueens<N + 1>(0, queens::board<N + 1>{})))
          : void()),
     ...);
    return result;
}
template <>
void lab::matmul<with_tmc>::node(const int* a, const int* b, int* c, int n, int stride) {
    with_tmc::wait(::matmul(a, b, c, n, stride));
}
template <>
std::int64_t lab::uts<with_tmc>::run() const {
    return with_tmc::wait(::uts(&tree, uts_node::root(tree.seed)));
}

int main(int argc, char** argv) {
    return lab::program<lab::forks<with_tmc>, lab::elsewhere<lab::run_cilk>,
                        lab::elsewhere<lab::run_tasks>>(argc, argv);
}
