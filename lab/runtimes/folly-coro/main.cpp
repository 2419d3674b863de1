// SPDX-License-Identifier: Apache-2.0
// folly::coro: collectAllTry of its tasks on its CPUThreadPoolExecutor. (collectAll would create a
// source of cancellation for each fork.) The executor runs the oldest task first, and so walks
// trees breadth first.
#include "when_all.hpp"

#include <folly/coro/Collect.h>
#include <folly/coro/CurrentExecutor.h>
#include <folly/coro/Task.h>
#include <folly/executors/CPUThreadPoolExecutor.h>

namespace {

// A task inherits its executor from the coroutine that awaits it, so the shapes name no executor.
struct current_executor {
    static auto schedule() { return folly::coro::co_reschedule_on_current_executor; }
};

struct library {
    template <class T>
    using task = folly::coro::Task<T>;
    using pool = current_executor;
    static auto when_all(auto&&... tasks) {
        return folly::coro::collectAllTry(std::forward<decltype(tasks)>(tasks)...);
    }
    static auto all_of(auto&& tasks) {
        return folly::coro::collectAllTryRange(std::forward<decltype(tasks)>(tasks));
    }
    static std::int64_t value(auto& done) { return *done; }
};

using shapes = lab::by_when_all<library>;

struct with_folly_coro {
    static inline folly::CPUThreadPoolExecutor* executor = nullptr;
    static inline current_executor pool;
    folly::CPUThreadPoolExecutor own;
    explicit with_folly_coro(unsigned threads)
        : own(std::pair<std::size_t, std::size_t>(threads, threads)) {
        executor = &own;
    }
    template <class F>
    auto run(F f) {
        return f();
    }
    static auto wait_for(auto root) { return std::move(root).semi().via(executor).get(); }
};

} // namespace

template <>
std::int64_t lab::fib<with_folly_coro>::run() const {
    return with_folly_coro::wait_for(shapes::fib(with_folly_coro::pool, shapes::start::here, n));
}
template <>
std::int64_t lab::skynet<with_folly_coro>::run() const {
    return with_folly_coro::wait_for(
        shapes::skynet(with_folly_coro::pool, shapes::start::here, 0, leaves(depth)));
}
template <>
template <std::size_t... N>
std::int64_t lab::nqueens<with_folly_coro>::dispatch(int n, std::index_sequence<N...>) {
    std::int64_t result = -1;
    ((static_cast<int>(N) + 1 == n ? void(result = with_folly_coro::wait_for(shapes::nqueens<N + 1>(
                                              with_folly_coro::pool, shapes::start::here, 0,
                                              lab::nqueens<void>::board<N + 1>{})))
                                   : void()),
     ...);
    return result;
}
template <>
void lab::matmul<with_folly_coro>::node(const int* a, const int* b, int* c, int n, int stride) {
    with_folly_coro::wait_for(
        shapes::matmul(with_folly_coro::pool, shapes::start::here, a, b, c, n, stride));
}
template <>
std::int64_t lab::uts<with_folly_coro>::run() const {
    return with_folly_coro::wait_for(shapes::uts(with_folly_coro::pool, shapes::start::here, tree,
                                                 lab::uts_node::root(tree.seed)));
}

int main(int argc, char** argv) {
    return lab::main_for<with_folly_coro>(argc, argv);
}
