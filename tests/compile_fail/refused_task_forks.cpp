// SPDX-License-Identifier: Apache-2.0
// expect-error: sennit: async_fork_join runs two or more children
//
// expect-error: sennit: a child of async_fork_join is a task, or a function without arguments
//
// expect-error: sennit: async_fork_each calls the function with a std::size_t
//
// expect-error: sennit: a task of async_fork_each returns nothing
//
// expect-error: sennit: an async_generator yields objects or lvalue references
#include <sennit/task.hpp>

#include <cstddef>

sennit::task<int> one() {
    co_return 1;
}
sennit::task<> accepted() {
    co_await sennit::async_fork_join(one(), one);
    co_await sennit::async_fork_each(2, [](std::size_t) {});
}

#ifdef SENNIT_EXPECT_ERROR
void refused() {
    sennit::async_fork_join(one());
    sennit::async_fork_join(one(), [](int) {});
    sennit::async_fork_each(2, [](const char*) {});
    (void)sennit::async_fork_each(2, [](std::size_t) { return one(); });
    sennit::async_generator<int&&> none;
}
#endif
