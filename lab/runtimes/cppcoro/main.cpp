// SPDX-License-Identifier: Apache-2.0
// cppcoro: when_all of the children; all but the last schedule themselves on its static_thread_pool, the last one is
// inline.
#include "main.hpp"

#include <cppcoro/static_thread_pool.hpp>
#include <cppcoro/sync_wait.hpp>
#include <cppcoro/task.hpp>
#include <cppcoro/when_all.hpp>
#include <cppcoro/when_all_ready.hpp>

#include <tuple>

namespace {

using cppcoro::static_thread_pool;
using cppcoro::task;
using lab::uts_node;
using lab::uts_tree;

// Whether a task begins on the pool, or where its parent is. (schedule_on would cost a second coroutine.)
enum class start { on_pool, here };

task<std::int64_t> fib(static_thread_pool& pool, start at, int n) {
    if (at == start::on_pool) co_await pool.schedule();
    if (n < 2) co_return n;
    const auto [a, b] = co_await cppcoro::when_all(fib(pool, start::on_pool, n - 2), fib(pool, start::here, n - 1));
    co_return a + b;
}

// The sum of what the tasks return.
std::int64_t sum_of(auto&& done) {
    std::int64_t sum = 0;
    for (auto& one : done) sum += one.result();
    return sum;
}

task<std::int64_t> skynet(static_thread_pool& pool, start at, std::int64_t first, std::int64_t count) {
    if (at == start::on_pool) co_await pool.schedule();
    if (count == 1) co_return first;
    const std::int64_t part = count / 10;
    const auto child = [&](int i) {
        return skynet(pool, i < 9 ? start::on_pool : start::here, first + i * part, part);
    };
    const auto results = co_await cppcoro::when_all(child(0), child(1), child(2), child(3), child(4), child(5),
                                                    child(6), child(7), child(8), child(9));
    co_return std::apply([](auto... one) { return (one + ...); }, results);
}

using queens = lab::nqueens<void>;

template <std::size_t N>
task<std::int64_t> nqueens(static_thread_pool& pool, start at, int column, queens::board<N> board) {
    if (at == start::on_pool) co_await pool.schedule();
    if (column == static_cast<int>(N)) co_return 1;
    std::array<char, N> moves;
    std::size_t count = 0;
    for (char row = 0; row < static_cast<char>(N); ++row)
        if (queens::legal<N>(board, column, row)) moves[count++] = row;
    if (count == 0) co_return 0;
    std::vector<task<std::int64_t>> children;
    children.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        board[static_cast<std::size_t>(column)] = moves[i];
        children.push_back(nqueens<N>(pool, i + 1 < count ? start::on_pool : start::here, column + 1, board));
    }
    co_return sum_of(co_await cppcoro::when_all_ready(std::move(children)));
}

task<> matmul(static_thread_pool& pool, start at, const int* a, const int* b, int* c, int n, int stride) {
    if (at == start::on_pool) co_await pool.schedule();
    if (n <= lab::matmul<void>::leaf) {
        lab::matmul<void>::multiply_leaf(a, b, c, n, stride);
        co_return;
    }
    const int k = n / 2;
    const int down = k * stride;
    co_await cppcoro::when_all(matmul(pool, start::on_pool, a, b, c, k, stride),
                               matmul(pool, start::on_pool, a, b + k, c + k, k, stride),
                               matmul(pool, start::on_pool, a + down, b, c + down, k, stride),
                               matmul(pool, start::here, a + down, b + k, c + down + k, k, stride));
    co_await cppcoro::when_all(matmul(pool, start::on_pool, a + k, b + down, c, k, stride),
                               matmul(pool, start::on_pool, a + k, b + down + k, c + k, k, stride),
                               matmul(pool, start::on_pool, a + down + k, b + down, c + down, k, stride),
                               matmul(pool, start::here, a + down + k, b + down + k, c + down + k, k, stride));
}

task<std::int64_t> uts(static_thread_pool& pool, start at, const uts_tree& tree, uts_node node) {
    if (at == start::on_pool) co_await pool.schedule();
    const std::size_t count = node.children(tree);
    if (count == 0) co_return 1;
    std::vector<task<std::int64_t>> children;
    children.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
        children.push_back(uts(pool, i + 1 < count ? start::on_pool : start::here, tree, node.child(i)));
    co_return 1 + sum_of(co_await cppcoro::when_all_ready(std::move(children)));
}

struct with_cppcoro {
    static inline static_thread_pool* pool = nullptr;
    static_thread_pool own;
    explicit with_cppcoro(unsigned threads) : own(threads) { pool = &own; }
    template <class F>
    auto run(F f) {
        return f();
    }
};

} // namespace

template <>
std::int64_t lab::fib<with_cppcoro>::run() const {
    return cppcoro::sync_wait(::fib(*with_cppcoro::pool, start::on_pool, n));
}
template <>
std::int64_t lab::skynet<with_cppcoro>::run() const {
    return cppcoro::sync_wait(::skynet(*with_cppcoro::pool, start::on_pool, 0, leaves(depth)));
}
template <>
template <std::size_t... N>
std::int64_t lab::nqueens<with_cppcoro>::dispatch(int n, std::index_sequence<N...>) {
    std::int64_t result = -1;
    ((static_cast<int>(N) + 1 == n ? void(result = cppcoro::sync_wait(::nqueens<N + 1>(
                                              *with_cppcoro::pool, start::on_pool, 0, queens::board<N + 1>{})))
                                   : void()),
     ...);
    return result;
}
template <>
void lab::matmul<with_cppcoro>::node(const int* a, const int* b, int* c, int n, int stride) {
    cppcoro::sync_wait(::matmul(*with_cppcoro::pool, start::on_pool, a, b, c, n, stride));
}
template <>
std::int64_t lab::uts<with_cppcoro>::run() const {
    return cppcoro::sync_wait(::uts(*with_cppcoro::pool, start::on_pool, tree, uts_node::root(tree.seed)));
}

int main(int argc, char** argv) {
    return lab::main_for<with_cppcoro>(argc, argv);
}
