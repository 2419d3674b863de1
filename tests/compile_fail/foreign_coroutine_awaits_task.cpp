// SPDX-License-Identifier: Apache-2.0
// expect-error: sennit: a coroutine of another library cannot await a task
//
// expect-error: sennit: a coroutine of another library cannot await an async_generator
#include <sennit/async_generator.hpp>
#include <sennit/block_on.hpp>
#include <sennit/task.hpp>

#include <coroutine>
#include <utility>

// A coroutine type of another library.
struct foreign {
    struct promise_type {
        foreign get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
};

sennit::task<int> one() {
    co_return 1;
}
sennit::async_generator<int> numbers() {
    co_yield co_await one();
}

// Tasks and generators await tasks, and any code may wait for a task on its own thread.
sennit::task<int> accepted() {
    sennit::async_generator<int> all = numbers();
    const int* first = co_await all.next();
    co_return *first + co_await one();
}
foreign waits() {
    (void)sennit::block_on(accepted());
    co_return;
}
// An adapter that passes an untyped handle on.
std::coroutine_handle<> passes_on(sennit::task<int> what, std::coroutine_handle<> after) {
    auto awaiter = std::move(what).operator co_await();
    return awaiter.await_suspend(after);
}

#ifdef SENNIT_EXPECT_ERROR
foreign refused() {
    (void)co_await one();
}
foreign refused_values(sennit::async_generator<int> all) {
    (void)co_await all.next();
}
#endif
