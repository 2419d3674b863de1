// SPDX-License-Identifier: Apache-2.0
// coros: wait_tasks, which puts all children into the worker's own deque and continues the parent
// after the last child.
#include "main.hpp"

#include <start_tasks.h>
#include <thread_pool.h>
#include <wait_tasks.h>

namespace {

using coros::Task;
using lab::uts_node;
using lab::uts_tree;

Task<std::int64_t> fib(int n) {
    if (n < 2) co_return n;
    auto a = fib(n - 2);
    auto b = fib(n - 1);
    co_await coros::wait_tasks(a, b);
    co_return *a + *b;
}

Task<std::int64_t> skynet(std::int64_t first, std::int64_t count) {
    if (count == 1) co_return first;
    const std::int64_t part = count / 10;
    std::array<Task<std::int64_t>, 10> t;
    for (std::size_t i = 0; i < 10; ++i)
        t[i] = skynet(first + static_cast<std::int64_t>(i) * part, part);
    co_await coros::wait_tasks(t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], t[9]);
    std::int64_t sum = 0;
    for (auto& one : t) sum += *one;
    co_return sum;
}

using queens = lab::nqueens<void>;

template <std::size_t N>
Task<std::int64_t> nqueens(int column, queens::board<N> board) {
    if (column == static_cast<int>(N)) co_return 1;
    std::array<char, N> moves;
    const std::size_t count = queens::moves_at<N>(column, board, moves);
    if (count == 0) co_return 0; // a wait for no tasks would never end
    std::vector<Task<std::int64_t>> children;
    children.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        board[static_cast<std::size_t>(column)] = moves[i];
        children.push_back(nqueens<N>(column + 1, board));
    }
    co_await coros::wait_tasks(children);
    std::int64_t sum = 0;
    for (auto& one : children) sum += *one;
    co_return sum;
}

Task<void> matmul(const int* a, const int* b, int* c, int n, int stride) {
    if (n <= lab::matmul<void>::leaf) {
        lab::matmul<void>::multiply_leaf(a, b, c, n, stride);
        co_return;
    }
    const int k = n / 2;
    const int down = k * stride;
    co_await coros::wait_tasks(matmul(a, b, c, k, stride), matmul(a, b + k, c + k, k, stride),
                               matmul(a + down, b, c + down, k, stride),
                               matmul(a + down, b + k, c + down + k, k, stride));
    co_await coros::wait_tasks(matmul(a + k, b + down, c, k, stride),
                               matmul(a + k, b + down + k, c + k, k, stride),
                               matmul(a + down + k, b + down, c + down, k, stride),
                               matmul(a + down + k, b + down + k, c + down + k, k, stride));
}

Task<std::int64_t> uts(const uts_tree& tree, uts_node node) {
    const std::size_t count = node.children(tree);
    if (count == 0) co_return 1;
    std::vector<Task<std::int64_t>> children;
    children.reserve(count);
    for (std::size_t i = 0; i < count; ++i) children.push_back(uts(tree, node.child(i)));
    co_await coros::wait_tasks(children);
    std::int64_t sum = 1;
    for (auto& one : children) sum += *one;
    co_return sum;
}

struct with_coros {
    static inline coros::ThreadPool* pool = nullptr;
    coros::ThreadPool own;
    explicit with_coros(unsigned threads) : own(static_cast<int>(threads)) { pool = &own; }
    template <class F>
    auto run(F f) {
        return f();
    }
    template <class T>
    static T wait(Task<T> task) {
        coros::start_sync(*pool, task);
        if constexpr (!std::is_void_v<T>) return *task;
    }
};

} // namespace

template <>
std::int64_t lab::fib<with_coros>::run() const {
    return with_coros::wait(::fib(n));
}
template <>
std::int64_t lab::skynet<with_coros>::run() const {
    return with_coros::wait(::skynet(0, leaves(depth)));
}
template <>
template <std::size_t... N>
std::int64_t lab::nqueens<with_coros>::dispatch(int n, std::index_sequence<N...>) {
    std::int64_t result = -1;
    ((static_cast<int>(N) + 1 == n
          ? void(result = with_coros::wait(::nqueens<N + 1>(0, queens::board<N + 1>{})))
          : void()),
     ...);
    return result;
}
template <>
void lab::matmul<with_coros>::node(const int* a, const int* b, int* c, int n, int stride) {
    with_coros::wait(::matmul(a, b, c, n, stride));
}
template <>
std::int64_t lab::uts<with_coros>::run() const {
    return with_coros::wait(::uts(tree, uts_node::root(tree.seed)));
}

int main(int argc, char** argv) {
    return lab::main_for<with_coros>(argc, argv);
}
