// SPDX-License-Identifier: Apache-2.0
// libfork: coroutines with continuation stealing on a lazy_pool. The last child is called, not
// forked.
#include "main.hpp"

#include "with_libfork.hpp"

namespace {

using lab::uts_node;
using lab::uts_tree;

inline constexpr auto fib = [](auto self, int n) -> lf::task<std::int64_t> {
    if (n < 2) co_return n;
    std::int64_t a, b;
    co_await lf::fork(&a, self)(n - 1);
    co_await lf::call(&b, self)(n - 2);
    co_await lf::join;
    co_return a + b;
};

inline constexpr auto skynet = [](auto self, std::int64_t first,
                                  std::int64_t count) -> lf::task<std::int64_t> {
    if (count == 1) co_return first;
    const std::int64_t part = count / 10;
    std::array<std::int64_t, 10> results;
    for (std::size_t i = 0; i < 9; ++i)
        co_await lf::fork(&results[i], self)(first + static_cast<std::int64_t>(i) * part, part);
    co_await lf::call(&results[9], self)(first + 9 * part, part);
    co_await lf::join;
    std::int64_t sum = 0;
    for (std::int64_t one : results) sum += one;
    co_return sum;
};

using queens = lab::nqueens<void>;

template <std::size_t N>
inline constexpr auto nqueens =
    [](auto self, int column, queens::board<N> board) -> lf::task<std::int64_t> {
    if (column == static_cast<int>(N)) co_return 1;
    std::array<char, N> moves;
    const std::size_t count = queens::moves_at<N>(column, board, moves);
    std::array<queens::board<N>, N> next;
    for (std::size_t i = 0; i < count; ++i) {
        next[i] = board;
        next[i][static_cast<std::size_t>(column)] = moves[i];
    }
    if (count == 0) co_return 0;
    std::array<std::int64_t, N> results;
    for (std::size_t i = 0; i + 1 < count; ++i)
        co_await lf::fork(&results[i], self)(column + 1, next[i]);
    co_await lf::call(&results[count - 1], self)(column + 1, next[count - 1]);
    co_await lf::join;
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += results[i];
    co_return sum;
};

inline constexpr auto matmul = [](auto self, const int* a, const int* b, int* c, int n,
                                  int stride) -> lf::task<void> {
    if (n <= lab::matmul<void>::leaf) {
        lab::matmul<void>::multiply_leaf(a, b, c, n, stride);
        co_return;
    }
    const int k = n / 2;
    const int down = k * stride;
    co_await lf::fork(self)(a, b, c, k, stride);
    co_await lf::fork(self)(a, b + k, c + k, k, stride);
    co_await lf::fork(self)(a + down, b, c + down, k, stride);
    co_await lf::call(self)(a + down, b + k, c + down + k, k, stride);
    co_await lf::join;
    co_await lf::fork(self)(a + k, b + down, c, k, stride);
    co_await lf::fork(self)(a + k, b + down + k, c + k, k, stride);
    co_await lf::fork(self)(a + down + k, b + down, c + down, k, stride);
    co_await lf::call(self)(a + down + k, b + down + k, c + down + k, k, stride);
    co_await lf::join;
};

inline constexpr auto uts = [](auto self, const uts_tree* tree,
                               uts_node at) -> lf::task<std::int64_t> {
    const std::size_t count = at.children(*tree);
    if (count == 0) co_return 1;
    std::vector<std::int64_t> results(count);
    for (std::size_t i = 0; i + 1 < count; ++i)
        co_await lf::fork(&results[i], self)(tree, at.child(i));
    co_await lf::call(&results[count - 1], self)(tree, at.child(count - 1));
    co_await lf::join;
    std::int64_t sum = 1;
    for (std::int64_t one : results) sum += one;
    co_return sum;
};

} // namespace

template <>
std::int64_t lab::fib<with_libfork>::run() const {
    return lf::sync_wait(*with_libfork::current, ::fib, n);
}
template <>
std::int64_t lab::skynet<with_libfork>::run() const {
    return lf::sync_wait(*with_libfork::current, ::skynet, std::int64_t{0}, leaves(depth));
}
template <>
template <std::size_t... N>
std::int64_t lab::nqueens<with_libfork>::dispatch(int n, std::index_sequence<N...>) {
    std::int64_t result = -1;
    ((static_cast<int>(N) + 1 == n
          ? void(result = lf::sync_wait(*with_libfork::current, ::nqueens<N + 1>, 0,
                                        queens::board<N + 1>{}))
          : void()),
     ...);
    return result;
}
template <>
void lab::matmul<with_libfork>::node(const int* a, const int* b, int* c, int n, int stride) {
    lf::sync_wait(*with_libfork::current, ::matmul, a, b, c, n, stride);
}
template <>
std::int64_t lab::uts<with_libfork>::run() const {
    return lf::sync_wait(*with_libfork::current, ::uts, &tree, uts_node::root(tree.seed));
}

int main(int argc, char** argv) {
    return lab::main_with_cilk<with_libfork>(argc, argv);
}
