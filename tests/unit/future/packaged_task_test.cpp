// SPDX-License-Identifier: Apache-2.0
// packaged_task.
#include "support.hpp"

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>

namespace {

using sennit::future;
using sennit::packaged_task;

static_assert(!std::is_copy_constructible_v<packaged_task<void()>>);
static_assert(std::is_nothrow_move_constructible_v<packaged_task<void()>>);
static_assert(std::is_same_v<decltype(packaged_task([](int, char&) { return 1.5; })),
                             packaged_task<double(int, char&)>>);
int twice(int x) noexcept {
    return 2 * x;
}
static_assert(
    std::is_same_v<decltype(packaged_task(std::declval<int (*)(int)>())), packaged_task<int(int)>>);

TEST(packaged_task, task_puts_its_result_into_its_future) {
    packaged_task<int(int)> task(twice);
    EXPECT_TRUE(task.valid());
    future<int> result = task.get_future();
    EXPECT_EQ(result.wait_for(std::chrono::seconds(0)), sennit::future_status::timeout);
    task(4);
    EXPECT_EQ(result.get(), 8);
    EXPECT_TRUE(task.valid());
}

TEST(packaged_task, task_puts_its_exception_into_its_future) {
    packaged_task<void()> task([] { throw std::runtime_error("x"); });
    task();
    EXPECT_THROW(task.get_future().get(), std::runtime_error);
}

TEST(packaged_task, task_without_state_reports_no_state) {
    packaged_task<int(int)> empty;
    packaged_task<int(int)> from(twice);
    packaged_task<int(int)> to(std::move(from));
    for (packaged_task<int(int)>* each : {&empty, &from}) {
        EXPECT_FALSE(each->valid());
        EXPECT_EQ(code_of([&] { (void)each->get_future(); }), no_state);
        EXPECT_EQ(code_of([&] { (*each)(1); }), no_state);
        EXPECT_EQ(code_of([&] { each->reset(); }), no_state);
    }
    EXPECT_TRUE(to.valid());
}

TEST(packaged_task, task_gives_its_future_once_and_is_called_once) {
    int calls = 0;
    packaged_task<void()> task([&] { ++calls; });
    (void)task.get_future();
    EXPECT_EQ(code_of([&] { (void)task.get_future(); }), already_retrieved);
    task();
    EXPECT_EQ(code_of([&] { task(); }), already_satisfied);
    EXPECT_EQ(calls, 1);
    packaged_task<void()> failing([&] {
        ++calls;
        throw 1;
    });
    failing();
    EXPECT_EQ(code_of([&] { failing(); }), already_satisfied);
    EXPECT_EQ(calls, 2);
}

TEST(packaged_task, reset_task_starts_anew_with_its_function) {
    packaged_task<int()> task([n = 0]() mutable { return ++n; });
    future<int> first = task.get_future();
    task();
    task.reset();
    future<int> second = task.get_future();
    task();
    EXPECT_EQ(first.get(), 1);
    EXPECT_EQ(second.get(), 2);
    task.reset();
    future<int> third = task.get_future();
    task.reset();
    EXPECT_EQ(code_of([&] { third.get(); }), broken_promise);
}

TEST(packaged_task, task_breaks_its_promise_when_destroyed_or_assigned_to) {
    future<int> destroyed, assigned;
    {
        packaged_task<int(int)> task(twice);
        destroyed = task.get_future();
    }
    packaged_task<int(int)> task(twice);
    assigned = task.get_future();
    task = packaged_task<int(int)>(twice);
    EXPECT_EQ(code_of([&] { destroyed.get(); }), broken_promise);
    EXPECT_EQ(code_of([&] { assigned.get(); }), broken_promise);
}

TEST(packaged_task, task_swaps_and_carries_references_move_only_types_and_members) {
    int there = 0;
    packaged_task<int&()> a([&]() -> int& { return there; }), b;
    swap(a, b);
    EXPECT_FALSE(a.valid());
    b();
    EXPECT_EQ(&b.get_future().get(), &there);

    packaged_task<std::unique_ptr<int>(std::unique_ptr<int>)> move_only(
        [own = std::make_unique<int>(2)](std::unique_ptr<int> p) {
            return std::make_unique<int>(*p + *own);
        });
    move_only(std::make_unique<int>(3));
    EXPECT_EQ(*move_only.get_future().get(), 5);

    packaged_task<std::size_t(const std::string&)> member(&std::string::size);
    member("four");
    EXPECT_EQ(member.get_future().get(), 4u);

    packaged_task<void(int)> ignores(twice); // ignores the result
    ignores(1);
    ignores.get_future().get();
}

TEST(packaged_task, destructor_drops_the_function_of_the_task) {
    future<void> result;
    {
        packaged_task<void()> task([kept = counted()] {});
        result = task.get_future();
        task();
        EXPECT_EQ(counted::alive(), 1);
    }
    EXPECT_EQ(counted::alive(), 0);
    result.get();
}

TEST(packaged_task, task_may_be_called_in_any_thread_or_fiber) {
    packaged_task<int(int)> first(twice), second(twice);
    future<int> of_first = first.get_future(), of_second = second.get_future();
    std::thread thread(std::move(first), 1);
    sennit::fiber(std::move(second), 2).detach();
    EXPECT_EQ(of_first.get() + of_second.get(), 6);
    thread.join();
}

} // namespace
