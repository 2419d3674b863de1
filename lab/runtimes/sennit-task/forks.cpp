// SPDX-License-Identifier: Apache-2.0
// The workloads of forks in Sennit's tasks, with async_fork_join and async_fork_each.
#include "../sennit/with_runtime.hpp"
#include "main.hpp"

#include <sennit/task.hpp>

using sennit::task;

namespace {

using lab::uts_node;
using lab::uts_tree;

task<std::int64_t> fib(int n) {
    if (n < 2) co_return n;
    const auto [a, b] =
        co_await sennit::async_fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
    co_return a + b;
}

task<> skynet(std::int64_t first, std::int64_t count, std::int64_t& result) {
    if (count == 1) {
        result = first;
        co_return;
    }
    const std::int64_t part = count / 10;
    std::array<std::int64_t, 10> results;
    co_await sennit::async_fork_each(10, [=, &results](std::size_t i) {
        return skynet(first + static_cast<std::int64_t>(i) * part, part, results[i]);
    });
    result = 0;
    for (std::int64_t one : results) result += one;
}

using queens = lab::nqueens<void>;

template <std::size_t N>
task<> nqueens(int column, queens::board<N> board, std::int64_t& result) {
    result = 1;
    if (column == static_cast<int>(N)) co_return;
    std::array<char, N> moves;
    const std::size_t count = queens::moves_at<N>(column, board, moves);
    std::array<std::int64_t, N> results;
    co_await sennit::async_fork_each(count, [&](std::size_t i) {
        queens::board<N> next = board;
        next[static_cast<std::size_t>(column)] = moves[i];
        return nqueens<N>(column + 1, next, results[i]);
    });
    result = 0;
    for (std::size_t i = 0; i < count; ++i) result += results[i];
}

task<> matmul(const int* a, const int* b, int* c, int n, int stride) {
    if (n <= lab::matmul<void>::leaf) {
        lab::matmul<void>::multiply_leaf(a, b, c, n, stride);
        co_return;
    }
    const int k = n / 2;
    const int down = k * stride;
    co_await sennit::async_fork_join(matmul(a, b, c, k, stride), matmul(a, b + k, c + k, k, stride),
                                     matmul(a + down, b, c + down, k, stride),
                                     matmul(a + down, b + k, c + down + k, k, stride));
    co_await sennit::async_fork_join(matmul(a + k, b + down, c, k, stride),
                                     matmul(a + k, b + down + k, c + k, k, stride),
                                     matmul(a + down + k, b + down, c + down, k, stride),
                                     matmul(a + down + k, b + down + k, c + down + k, k, stride));
}

task<> uts(const uts_tree& tree, uts_node at, std::int64_t& result) {
    result = 1;
    const std::size_t count = at.children(tree);
    if (count == 0) co_return;
    std::vector<std::int64_t> results(count);
    co_await sennit::async_fork_each(
        count, [&](std::size_t i) { return uts(tree, at.child(i), results[i]); });
    for (std::int64_t one : results) result += one;
}

} // namespace

template <>
std::int64_t lab::fib<with_runtime>::run() const {
    return sennit::block_on(::fib(n));
}
template <>
std::int64_t lab::skynet<with_runtime>::run() const {
    std::int64_t result = 0;
    sennit::block_on(::skynet(0, leaves(depth), result));
    return result;
}
template <>
template <std::size_t... N>
std::int64_t lab::nqueens<with_runtime>::dispatch(int n, std::index_sequence<N...>) {
    std::int64_t result = -1;
    ((static_cast<int>(N) + 1 == n
          ? sennit::block_on(::nqueens<N + 1>(0, queens::board<N + 1>{}, result))
          : void()),
     ...);
    return result;
}
template <>
void lab::matmul<with_runtime>::node(const int* a, const int* b, int* c, int n, int stride) {
    sennit::block_on(::matmul(a, b, c, n, stride));
}
template <>
std::int64_t lab::uts<with_runtime>::run() const {
    std::int64_t result = 0;
    sennit::block_on(::uts(tree, uts_node::root(tree.seed), result));
    return result;
}

std::optional<int> lab::run_forks(const std::string& name, const std::string& size,
                                  unsigned threads) {
    return forks<with_runtime>::run(name, size, threads);
}
