// SPDX-License-Identifier: Apache-2.0
// The workloads of forks for libraries of coroutines whose fork is `when_all` of tasks. All
// children but the last schedule themselves on the pool, and the last child runs inline.
//
// A library L supplies `task<T>` and `pool`; `when_all(tasks...)`, which is awaited for a tuple;
// `all_of(vector of tasks)`, which is awaited for a range; and `value(one)`, the number in one
// element of the tuple or the range.
#pragma once

#include "main.hpp"

#include <tuple>

namespace lab {

template <class L>
struct by_when_all {
    template <class T>
    using task = typename L::template task<T>;
    using pool_of = typename L::pool;

    // Whether a task begins on the pool or on its parent's thread.
    enum class start { on_pool, here };

    static task<std::int64_t> fib(pool_of& pool, start at, int n) {
        if (at == start::on_pool) co_await pool.schedule();
        if (n < 2) co_return n;
        auto [a, b] =
            co_await L::when_all(fib(pool, start::on_pool, n - 2), fib(pool, start::here, n - 1));
        co_return L::value(a) + L::value(b);
    }

    // The sum of the results of the tasks.
    static std::int64_t sum_of(auto&& done) {
        std::int64_t sum = 0;
        for (auto& one : done) sum += L::value(one);
        return sum;
    }

    static task<std::int64_t> skynet(pool_of& pool, start at, std::int64_t first,
                                     std::int64_t count) {
        if (at == start::on_pool) co_await pool.schedule();
        if (count == 1) co_return first;
        const std::int64_t part = count / 10;
        const auto child = [&](int i) {
            return skynet(pool, i < 9 ? start::on_pool : start::here, first + i * part, part);
        };
        auto results = co_await L::when_all(child(0), child(1), child(2), child(3), child(4),
                                            child(5), child(6), child(7), child(8), child(9));
        co_return std::apply([](auto&... one) { return (L::value(one) + ...); }, results);
    }

    using queens = lab::nqueens<void>;

    template <std::size_t N>
    static task<std::int64_t> nqueens(pool_of& pool, start at, int column, queens::board<N> board) {
        if (at == start::on_pool) co_await pool.schedule();
        if (column == static_cast<int>(N)) co_return 1;
        std::array<char, N> moves;
        const std::size_t count = queens::moves_at<N>(column, board, moves);
        if (count == 0) co_return 0;
        std::vector<task<std::int64_t>> children;
        children.reserve(count);
        for (std::size_t i = 0; i < count; ++i) {
            board[static_cast<std::size_t>(column)] = moves[i];
            children.push_back(
                nqueens<N>(pool, i + 1 < count ? start::on_pool : start::here, column + 1, board));
        }
        co_return sum_of(co_await L::all_of(std::move(children)));
    }

    static task<void> matmul(pool_of& pool, start at, const int* a, const int* b, int* c, int n,
                             int stride) {
        if (at == start::on_pool) co_await pool.schedule();
        if (n <= lab::matmul<void>::leaf) {
            lab::matmul<void>::multiply_leaf(a, b, c, n, stride);
            co_return;
        }
        const int k = n / 2;
        const int down = k * stride;
        co_await L::when_all(matmul(pool, start::on_pool, a, b, c, k, stride),
                             matmul(pool, start::on_pool, a, b + k, c + k, k, stride),
                             matmul(pool, start::on_pool, a + down, b, c + down, k, stride),
                             matmul(pool, start::here, a + down, b + k, c + down + k, k, stride));
        co_await L::when_all(
            matmul(pool, start::on_pool, a + k, b + down, c, k, stride),
            matmul(pool, start::on_pool, a + k, b + down + k, c + k, k, stride),
            matmul(pool, start::on_pool, a + down + k, b + down, c + down, k, stride),
            matmul(pool, start::here, a + down + k, b + down + k, c + down + k, k, stride));
    }

    static task<std::int64_t> uts(pool_of& pool, start at, const uts_tree& tree, uts_node node) {
        if (at == start::on_pool) co_await pool.schedule();
        const std::size_t count = node.children(tree);
        if (count == 0) co_return 1;
        std::vector<task<std::int64_t>> children;
        children.reserve(count);
        for (std::size_t i = 0; i < count; ++i)
            children.push_back(
                uts(pool, i + 1 < count ? start::on_pool : start::here, tree, node.child(i)));
        co_return 1 + sum_of(co_await L::all_of(std::move(children)));
    }
};

} // namespace lab
