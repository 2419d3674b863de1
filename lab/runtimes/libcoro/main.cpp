// SPDX-License-Identifier: Apache-2.0
// libcoro: when_all on its thread_pool. The pool runs the oldest task first and so walks trees
// breadth first. The large trees do not fit into memory.
#include "when_all.hpp"

#include <coro/sync_wait.hpp>
#include <coro/task.hpp>
#include <coro/thread_pool.hpp>
#include <coro/when_all.hpp>

#include <memory>

namespace {

struct library {
    template <class T>
    using task = coro::task<T>;
    using pool = coro::thread_pool;
    static auto when_all(auto&&... tasks) {
        return coro::when_all(std::forward<decltype(tasks)>(tasks)...);
    }
    static auto all_of(auto&& tasks) {
        return coro::when_all(std::forward<decltype(tasks)>(tasks));
    }
    static std::int64_t value(auto& done) { return done.return_value(); }
};

using shapes = lab::by_when_all<library>;

struct with_libcoro {
    static inline coro::thread_pool* pool = nullptr;
    std::unique_ptr<coro::thread_pool> own;
    explicit with_libcoro(unsigned threads)
        : own(coro::thread_pool::make_unique(
              coro::thread_pool::options{.thread_count = threads,
                                         .on_thread_start_functor = nullptr,
                                         .on_thread_stop_functor = nullptr})) {
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
    return coro::sync_wait(shapes::fib(*with_libcoro::pool, shapes::start::on_pool, n));
}
template <>
std::int64_t lab::skynet<with_libcoro>::run() const {
    return coro::sync_wait(
        shapes::skynet(*with_libcoro::pool, shapes::start::on_pool, 0, leaves(depth)));
}
template <>
template <std::size_t... N>
std::int64_t lab::nqueens<with_libcoro>::dispatch(int n, std::index_sequence<N...>) {
    std::int64_t result = -1;
    ((static_cast<int>(N) + 1 == n ? void(result = coro::sync_wait(shapes::nqueens<N + 1>(
                                              *with_libcoro::pool, shapes::start::on_pool, 0,
                                              lab::nqueens<void>::board<N + 1>{})))
                                   : void()),
     ...);
    return result;
}
template <>
void lab::matmul<with_libcoro>::node(const int* a, const int* b, int* c, int n, int stride) {
    coro::sync_wait(
        shapes::matmul(*with_libcoro::pool, shapes::start::on_pool, a, b, c, n, stride));
}
template <>
std::int64_t lab::uts<with_libcoro>::run() const {
    return coro::sync_wait(shapes::uts(*with_libcoro::pool, shapes::start::on_pool, tree,
                                       lab::uts_node::root(tree.seed)));
}

int main(int argc, char** argv) {
    return lab::main_for<with_libcoro>(argc, argv);
}
