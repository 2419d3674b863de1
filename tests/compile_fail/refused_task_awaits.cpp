// SPDX-License-Identifier: Apache-2.0
// expect-error: sennit: a task is awaited once, as an rvalue
//
// expect-error: sennit: a task awaits a future as an rvalue
//
// expect-error: sennit: a task awaits tasks, futures
//
// expect-error: coroutine frames to 16 bytes
//
// expect-error: sennit: a task in a nursery has no fiber attributes
//
// expect-error: sennit: spawn with attributes starts a task
//
// expect-error: sennit: async_enter takes from 1 to 8 objects
//
// expect-error: sennit: async_waitfor takes clauses
//
// expect-error: sennit: the function of a clause is a plain function
//
// expect-error: sennit: async_call_once calls the function with the arguments
#include <sennit/monitor.hpp>
#include <sennit/nursery.hpp>
#include <sennit/task.hpp>

#include <coroutine>
#include <utility>

struct alignas(64) wide {};

sennit::task<int> one() {
    co_return 1;
}

sennit::task<> accepted(sennit::future<int> value) {
    sennit::task<int> inner = one();
    co_await std::move(inner);
    co_await std::move(value);
}
void accepted_child() {
    sennit::nursery family;
    family.start(one);
    family.start({.name = "task"}, one);
    family.start({.name = "fiber"}, [] {});
    (void)sennit::spawn({.name = "spawned"}, one);
}

#ifdef SENNIT_EXPECT_ERROR
sennit::task<> refused(sennit::future<int> value) {
    sennit::task<int> inner = one();
    co_await inner;
    co_await value;
    co_await std::suspend_always();
}
sennit::task<wide> refused_result();
void refused_enter(int no_monitor, sennit::once_flag& flag) {
    sennit::async_enter(no_monitor);
    (void)sennit::async_waitfor(no_monitor);
    (void)sennit::async_waitfor(sennit::or_else().then(one));
    (void)sennit::async_call_once(flag, [](int) {});
}
sennit::task<wide> made = refused_result();
void refused_child() {
    sennit::nursery family;
    family.start(sennit::fiber_attributes{}, one);
    (void)sennit::spawn({.name = "no task"}, [] {});
}
#endif
