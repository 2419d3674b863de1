// SPDX-License-Identifier: Apache-2.0
// cppcoro: when_all on its static_thread_pool.
#include "when_all.hpp"

#include <cppcoro/static_thread_pool.hpp>
#include <cppcoro/sync_wait.hpp>
#include <cppcoro/task.hpp>
#include <cppcoro/when_all.hpp>
#include <cppcoro/when_all_ready.hpp>

namespace {

struct library {
    template <class T>
    using task = cppcoro::task<T>; // schedule_on would cost a second coroutine
    using pool = cppcoro::static_thread_pool;
    static auto when_all(auto&&... tasks) {
        return cppcoro::when_all(std::forward<decltype(tasks)>(tasks)...);
    }
    static auto all_of(auto&& tasks) {
        return cppcoro::when_all_ready(std::forward<decltype(tasks)>(tasks));
    }
    static std::int64_t value(std::int64_t one) { return one; }
    static std::int64_t value(auto& done) { return done.result(); }
};

using shapes = lab::by_when_all<library>;

struct with_cppcoro {
    static inline cppcoro::static_thread_pool* pool = nullptr;
    cppcoro::static_thread_pool own;
    explicit with_cppcoro(unsigned threads) : own(threads) { pool = &own; }
    template <class F>
    auto run(F f) {
        return f();
    }
};

} // namespace

template <>
std::int64_t lab::fib<with_cppcoro>::run() const {
    return cppcoro::sync_wait(shapes::fib(*with_cppcoro::pool, shapes::start::on_pool, n));
}
template <>
std::int64_t lab::skynet<with_cppcoro>::run() const {
    return cppcoro::sync_wait(
        shapes::skynet(*with_cppcoro::pool, shapes::start::on_pool, 0, leaves(depth)));
}
template <>
template <std::size_t... N>
std::int64_t lab::nqueens<with_cppcoro>::dispatch(int n, std::index_sequence<N...>) {
    std::int64_t result = -1;
    ((static_cast<int>(N) + 1 == n ? void(result = cppcoro::sync_wait(shapes::nqueens<N + 1>(
                                              *with_cppcoro::pool, shapes::start::on_pool, 0,
                                              lab::nqueens<void>::board<N + 1>{})))
                                   : void()),
     ...);
    return result;
}
template <>
void lab::matmul<with_cppcoro>::node(const int* a, const int* b, int* c, int n, int stride) {
    cppcoro::sync_wait(
        shapes::matmul(*with_cppcoro::pool, shapes::start::on_pool, a, b, c, n, stride));
}
template <>
std::int64_t lab::uts<with_cppcoro>::run() const {
    return cppcoro::sync_wait(shapes::uts(*with_cppcoro::pool, shapes::start::on_pool, tree,
                                          lab::uts_node::root(tree.seed)));
}

int main(int argc, char** argv) {
    return lab::main_for<with_cppcoro>(argc, argv);
}
