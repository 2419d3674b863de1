// SPDX-License-Identifier: Apache-2.0
// concurrencpp: parallel coroutines on its thread_pool_executor, which the parent awaits in turn.
// The last child is a lazy coroutine, which the parent awaits immediately.
#include "main.hpp"

#include <concurrencpp/concurrencpp.h>

namespace {

using concurrencpp::executor_tag;
using concurrencpp::lazy_result;
using concurrencpp::result;
using concurrencpp::thread_pool_executor;
using lab::uts_node;
using lab::uts_tree;

// Each coroutine has two forms: `forked<T>(executor_tag(), pool, ...)`, which begins on the pool,
// and `here<T>(pool, ...)`, which begins on the calling thread.
template <class T, class... Tag>
struct form {
    using type = result<T>;
};
template <class T>
struct form<T> {
    using type = lazy_result<T>;
};
template <class T, class... Tag>
using form_t = typename form<T, Tag...>::type;

template <class... Tag>
form_t<std::int64_t, Tag...> fib(Tag..., thread_pool_executor& pool, int n) {
    if (n < 2) co_return n;
    auto forked = fib<executor_tag>({}, pool, n - 2);
    const std::int64_t b = co_await fib<>(pool, n - 1);
    co_return co_await forked + b;
}

template <class... Tag>
form_t<std::int64_t, Tag...> skynet(Tag..., thread_pool_executor& pool, std::int64_t first,
                                    std::int64_t count) {
    if (count == 1) co_return first;
    const std::int64_t part = count / 10;
    std::array<result<std::int64_t>, 9> forked;
    for (std::size_t i = 0; i < 9; ++i)
        forked[i] =
            skynet<executor_tag>({}, pool, first + static_cast<std::int64_t>(i) * part, part);
    std::int64_t sum = co_await skynet<>(pool, first + 9 * part, part);
    for (auto& one : forked) sum += co_await one;
    co_return sum;
}

using queens = lab::nqueens<void>;

template <std::size_t N, class... Tag>
form_t<std::int64_t, Tag...> nqueens(Tag..., thread_pool_executor& pool, int column,
                                     queens::board<N> board) {
    if (column == static_cast<int>(N)) co_return 1;
    std::array<char, N> moves;
    const std::size_t count = queens::moves_at<N>(column, board, moves);
    if (count == 0) co_return 0;
    std::array<result<std::int64_t>, N> forked;
    for (std::size_t i = 0; i + 1 < count; ++i) {
        board[static_cast<std::size_t>(column)] = moves[i];
        forked[i] = nqueens<N, executor_tag>({}, pool, column + 1, board);
    }
    board[static_cast<std::size_t>(column)] = moves[count - 1];
    std::int64_t sum = co_await nqueens<N>(pool, column + 1, board);
    for (std::size_t i = 0; i + 1 < count; ++i) sum += co_await forked[i];
    co_return sum;
}

template <class... Tag>
form_t<void, Tag...> matmul(Tag..., thread_pool_executor& pool, const int* a, const int* b, int* c,
                            int n, int stride) {
    if (n <= lab::matmul<void>::leaf) {
        lab::matmul<void>::multiply_leaf(a, b, c, n, stride);
        co_return;
    }
    const int k = n / 2;
    const int down = k * stride;
    {
        auto one = matmul<executor_tag>({}, pool, a, b, c, k, stride);
        auto two = matmul<executor_tag>({}, pool, a, b + k, c + k, k, stride);
        auto three = matmul<executor_tag>({}, pool, a + down, b, c + down, k, stride);
        co_await matmul<>(pool, a + down, b + k, c + down + k, k, stride);
        co_await one;
        co_await two;
        co_await three;
    }
    auto one = matmul<executor_tag>({}, pool, a + k, b + down, c, k, stride);
    auto two = matmul<executor_tag>({}, pool, a + k, b + down + k, c + k, k, stride);
    auto three = matmul<executor_tag>({}, pool, a + down + k, b + down, c + down, k, stride);
    co_await matmul<>(pool, a + down + k, b + down + k, c + down + k, k, stride);
    co_await one;
    co_await two;
    co_await three;
}

template <class... Tag>
form_t<std::int64_t, Tag...> uts(Tag..., thread_pool_executor& pool, const uts_tree& tree,
                                 uts_node node) {
    const std::size_t count = node.children(tree);
    if (count == 0) co_return 1;
    std::vector<result<std::int64_t>> forked;
    forked.reserve(count - 1);
    for (std::size_t i = 0; i + 1 < count; ++i)
        forked.push_back(uts<executor_tag>({}, pool, tree, node.child(i)));
    std::int64_t sum = 1 + co_await uts<>(pool, tree, node.child(count - 1));
    for (auto& one : forked) sum += co_await one;
    co_return sum;
}

struct with_concurrencpp {
    static inline thread_pool_executor* pool = nullptr;
    concurrencpp::runtime runtime;
    explicit with_concurrencpp(unsigned threads) : runtime(options(threads)) {
        pool = runtime.thread_pool_executor().get();
    }
    static concurrencpp::runtime_options options(unsigned threads) {
        concurrencpp::runtime_options chosen;
        chosen.max_cpu_threads = threads;
        return chosen;
    }
    template <class F>
    auto run(F f) {
        return f();
    }
};

} // namespace

template <>
std::int64_t lab::fib<with_concurrencpp>::run() const {
    return ::fib<executor_tag>({}, *with_concurrencpp::pool, n).get();
}
template <>
std::int64_t lab::skynet<with_concurrencpp>::run() const {
    return ::skynet<executor_tag>({}, *with_concurrencpp::pool, 0, leaves(depth)).get();
}
template <>
template <std::size_t... N>
std::int64_t lab::nqueens<with_concurrencpp>::dispatch(int n, std::index_sequence<N...>) {
    std::int64_t result = -1;
    ((static_cast<int>(N) + 1 == n
          ? void(result = ::nqueens<N + 1, executor_tag>({}, *with_concurrencpp::pool, 0,
                                                         queens::board<N + 1>{})
                              .get())
          : void()),
     ...);
    return result;
}
template <>
void lab::matmul<with_concurrencpp>::node(const int* a, const int* b, int* c, int n, int stride) {
    ::matmul<executor_tag>({}, *with_concurrencpp::pool, a, b, c, n, stride).get();
}
template <>
std::int64_t lab::uts<with_concurrencpp>::run() const {
    return ::uts<executor_tag>({}, *with_concurrencpp::pool, tree, uts_node::root(tree.seed)).get();
}

int main(int argc, char** argv) {
    return lab::main_for<with_concurrencpp>(argc, argv);
}
