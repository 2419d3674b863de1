// SPDX-License-Identifier: Apache-2.0
// libcoro: when_all of the children; all but the last schedule themselves on its thread_pool, the last one is inline.
// The pool takes the oldest first and so walks trees in breadth: the large ones do not fit into memory.
#include "main.hpp"

#include <coro/sync_wait.hpp>
#include <coro/task.hpp>
#include <coro/thread_pool.hpp>
#include <coro/when_all.hpp>

#include <memory>
#include <tuple>

namespace {

using coro::task;
using coro::thread_pool;
using lab::uts_node;
using lab::uts_tree;

// Whether a task begins on the pool, or where its parent is.
enum class start { on_pool, here };

task<std::int64_t> fib(thread_pool& pool, start at, int n) {
    if (at == start::on_pool) co_await pool.schedule();
    if (n < 2) co_return n;
    const auto [a, b] = co_await coro::when_all(fib(pool, start::on_pool, n - 2), fib(pool, start::here, n - 1));
    co_return a.return_value() + b.return_value();
}

// The sum of what the tasks return.
std::int64_t sum_of(const auto& done) {
    std::int64_t sum = 0;
    for (const auto& one : done) sum += one.return_value();
    return sum;
}

task<std::int64_t> skynet(thread_pool& pool, start at, std::int64_t first, std::int64_t count) {
    if (at == start::on_pool) co_await pool.schedule();
    if (count == 1) co_return first;
    const std::int64_t part = count / 10;
    const auto child = [&](int i) {
        return skynet(pool, i < 9 ? start::on_pool : start::here, first + i * part, part);
    };
    const auto results = co_await coro::when_all(child(0), child(1), child(2), child(3), child(4), child(5), child(6),
                                                 child(7), child(8), child(9));
    co_return std::apply([](const auto&... one) { return (one.return_value() + ...); }, results);
}

using queens = lab::nqueens<void>;

template <std::size_t N>
task<std::int64_t> nqueens(thread_pool& pool, start at, int column, queens::board<N> board) {
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
    co_return sum_of(co_await coro::when_all(std::move(children)));
}

task<void> matmul(thread_pool& pool, start at, const int* a, const int* b, int* c, int n, int stride) {
    if (at == start::on_pool) co_await pool.schedule();
    if (n <= lab::matmul<void>::leaf) {
        lab::matmul<void>::multiply_leaf(a, b, c, n, stride);
        co_return;
    }
    const int k = n / 2;
    const int down = k * stride;
    co_await coro::when_all(matmul(pool, start::on_pool, a, b, c, k, stride),
                            matmul(pool, start::on_pool, a, b + k, c + k, k, stride),
                            matmul(pool, start::on_pool, a + down, b, c + down, k, stride),
                            matmul(pool, start::here, a + down, b + k, c + down + k, k, stride));
    co_await coro::when_all(matmul(pool, start::on_pool, a + k, b + down, c, k, stride),
                            matmul(pool, start::on_pool, a + k, b + down + k, c + k, k, stride),
                            matmul(pool, start::on_pool, a + down + k, b + down, c + down, k, stride),
                            matmul(pool, start::here, a + down + k, b + down + k, c + down + k, k, stride));
}

task<std::int64_t> uts(thread_pool& pool, start at, const uts_tree& tree, uts_node node) {
    if (at == start::on_pool) co_await pool.schedule();
    const std::size_t count = node.children(tree);
    if (count == 0) co_return 1;
    std::vector<task<std::int64_t>> children;
    children.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
        children.push_back(uts(pool, i + 1 < count ? start::on_pool : start::here, tree, node.child(i)));
    co_return 1 + sum_of(co_await coro::when_all(std::move(children)));
}

struct with_libcoro {
    static inline thread_pool* pool = nullptr;
    std::unique_ptr<thread_pool> own;
    explicit with_libcoro(unsigned threads)
        : own(thread_pool::make_unique(thread_pool::options{
              .thread_count = threads, .on_thread_start_functor = nullptr, .on_thread_stop_functor = nullptr})) {
        pool = own.get();
    }
    template <class F>
    auto run(F f) {
        return f();
    }
};

} // namespace

template <>
std::int64_t lab::fib<with_libcoro>::run() const {
    return coro::sync_wait(::fib(*with_libcoro::pool, start::on_pool, n));
}
template <>
std::int64_t lab::skynet<with_libcoro>::run() const {
    return coro::sync_wait(::skynet(*with_libcoro::pool, start::on_pool, 0, leaves(depth)));
}
template <>
template <std::size_t... N>
std::int64_t lab::nqueens<with_libcoro>::dispatch(int n, std::index_sequence<N...>) {
    std::int64_t result = -1;
    ((static_cast<int>(N) + 1 == n ? void(result = coro::sync_wait(::nqueens<N + 1>(*with_libcoro::pool, start::on_pool,
                                                                                    0, queens::board<N + 1>{})))
                                   : void()),
     ...);
    return result;
}
template <>
void lab::matmul<with_libcoro>::node(const int* a, const int* b, int* c, int n, int stride) {
    coro::sync_wait(::matmul(*with_libcoro::pool, start::on_pool, a, b, c, n, stride));
}
template <>
std::int64_t lab::uts<with_libcoro>::run() const {
    return coro::sync_wait(::uts(*with_libcoro::pool, start::on_pool, tree, uts_node::root(tree.seed)));
}

int main(int argc, char** argv) {
    return lab::main_for<with_libcoro>(argc, argv);
}
