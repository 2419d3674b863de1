// SPDX-License-Identifier: Apache-2.0
// future and shared_future: states, values, waits.
#include "support.hpp"

#include <sennit/detail/core/wait.hpp>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

using namespace std::chrono_literals;
using sennit::future;
using sennit::future_status;
using sennit::promise;
using sennit::shared_future;

static_assert(!std::is_copy_constructible_v<future<int>> &&
              std::is_nothrow_move_constructible_v<future<int>>);
static_assert(std::is_copy_constructible_v<shared_future<int>> &&
              std::is_copy_assignable_v<shared_future<void>>);
static_assert(std::is_convertible_v<future<int>, shared_future<int>>);
static_assert(std::is_same_v<decltype(std::declval<shared_future<int>>().get()), const int&>);
static_assert(std::is_same_v<decltype(std::declval<shared_future<int&>>().get()), int&>);
static_assert(std::is_void_v<decltype(std::declval<shared_future<void>>().get())>);

template <class Future>
void has_no_state(Future& invalid) {
    EXPECT_FALSE(invalid.valid());
    EXPECT_EQ(code_of([&] { invalid.get(); }), no_state);
    EXPECT_EQ(code_of([&] { invalid.wait(); }), no_state);
    EXPECT_EQ(code_of([&] { invalid.wait_for(0s); }), no_state);
    EXPECT_EQ(code_of([&] { invalid.wait_for(1s); }), no_state);
    EXPECT_EQ(code_of([&] { invalid.wait_until(std::chrono::steady_clock::now()); }), no_state);
    EXPECT_EQ(code_of([&] { (void)invalid.get_exception_ptr(); }), no_state);
    EXPECT_EQ(code_of([&] { (void)invalid.then([](Future) {}); }), no_state);
}

TEST(future, future_without_state_reports_no_state_from_every_call) {
    future<int> made;
    has_no_state(made);
    future<int> got = sennit::make_ready_future(1);
    got.get();
    has_no_state(got);
    future<void> moved = sennit::make_ready_future();
    const future<void> other = std::move(moved);
    has_no_state(moved);
    future<int> shared = sennit::make_ready_future(1);
    const shared_future<int> sharing = shared.share();
    has_no_state(shared);
    shared_future<int&> empty;
    has_no_state(empty);
    EXPECT_FALSE(shared_future<int>(future<int>().share()).valid());
}

TEST(future, future_keeps_its_state_across_waits_and_loses_it_by_get) {
    promise<int> made;
    future<int> wanted = made.get_future();
    made.set_value(9);
    wanted.wait();
    wanted.wait();
    EXPECT_EQ(wanted.get_exception_ptr(), nullptr);
    EXPECT_TRUE(wanted.valid());
    EXPECT_EQ(wanted.get(), 9);
    EXPECT_FALSE(wanted.valid());
}

TEST(future, future_loses_its_state_by_get_that_throws) {
    future<int> wanted = sennit::make_exceptional_future<int>(std::runtime_error("x"));
    EXPECT_THROW(wanted.get(), std::runtime_error);
    EXPECT_FALSE(wanted.valid());
}

TEST(future, get_moves_the_value_out_and_frees_the_state) {
    promise<counted> made;
    made.set_value(counted(1));
    {
        const counted got = made.get_future().get();
        EXPECT_EQ(got.value, 1);
    }
    made = promise<counted>();
    EXPECT_EQ(counted::alive(), 0);
}

TEST(shared_future, shared_future_gives_every_copy_one_value_repeatedly) {
    shared_future<std::string> first = sennit::make_ready_future(std::string("text")).share();
    const shared_future<std::string> second = first;
    EXPECT_EQ(&first.get(), &second.get());
    first = {};
    EXPECT_FALSE(first.valid());
    EXPECT_EQ(second.get(), "text");
    int there = 1;
    const shared_future<int&> reference = sennit::make_ready_future(std::ref(there));
    EXPECT_EQ(&reference.get(), &there);
    shared_future<void> nothing = sennit::make_ready_future();
    nothing.get();
    nothing.get();
    const shared_future<void> failed =
        sennit::make_exceptional_future<void>(std::runtime_error("x"));
    for (int i = 0; i < 3; ++i) EXPECT_THROW(failed.get(), std::runtime_error);
    EXPECT_TRUE(failed.valid());
}

class waits : public with_workers {};
SENNIT_FOR_WORKERS(waits);

void tells_time_out_from_ready() {
    promise<int> made;
    future<int> wanted = made.get_future();
    EXPECT_EQ(wanted.wait_for(0s), future_status::timeout);
    EXPECT_EQ(wanted.wait_for(-1h), future_status::timeout);
    EXPECT_EQ(wanted.wait_for(100us), future_status::timeout);
    EXPECT_EQ(wanted.wait_until(std::chrono::steady_clock::now() + 100us), future_status::timeout);
    EXPECT_EQ(wanted.wait_until(std::chrono::system_clock::now() + 100us), future_status::timeout);
    EXPECT_EQ(wanted.wait_until(std::chrono::system_clock::time_point()), future_status::timeout);
    made.set_value(1);
    EXPECT_EQ(wanted.wait_for(0s), future_status::ready);
    EXPECT_EQ(wanted.wait_for(1h), future_status::ready);
    EXPECT_EQ(wanted.wait_until(std::chrono::steady_clock::time_point::max()),
              future_status::ready);
    EXPECT_EQ(wanted.wait_until(std::chrono::system_clock::time_point()), future_status::ready);
    EXPECT_EQ(wanted.get(), 1);
}

TEST_P(waits, timed_waits_distinguish_timeout_from_ready) {
    tells_time_out_from_ready();
    runtime.run(tells_time_out_from_ready);
}

TEST_P(waits, wait_accepts_any_duration) {
    runtime.run([] {
        promise<void> made;
        future<void> wanted = made.get_future();
        sennit::fiber setter([&] { made.set_value(); });
        EXPECT_EQ(wanted.wait_for(std::chrono::hours::max()), future_status::ready);
        setter.join();
    });
}

// With one worker the test ends only if the worker runs other fibers while one fiber waits.
TEST_P(waits, wait_blocks_only_its_fiber) {
    runtime.run([] {
        promise<int> there, back;
        sennit::fiber other([&] { back.set_value(there.get_future().get() + 1); });
        sennit::sched::yield();
        there.set_value(1);
        EXPECT_EQ(back.get_future().get(), 2);
        other.join();
    });
}

TEST_P(waits, waits_work_between_fibers_and_threads) {
    const auto in_thread = [](std::function<void()> body) { std::thread(std::move(body)).join(); };
    const auto in_fiber = [this](std::function<void()> body) { runtime.run(std::move(body)); };
    for (const bool setter_in_fiber : {false, true})
        for (const bool getter_in_fiber : {false, true}) {
            promise<std::string> made;
            int plain = 0;
            std::thread setter([&] {
                const auto set = [&] {
                    plain = 5;
                    made.set_value("hello");
                };
                setter_in_fiber ? in_fiber(set) : in_thread(set);
            });
            const auto get = [&] {
                EXPECT_EQ(made.get_future().get(), "hello");
                EXPECT_EQ(plain, 5);
            };
            getter_in_fiber ? in_fiber(get) : in_thread(get);
            setter.join();
        }
}

TEST_P(waits, set_value_wakes_every_fiber_and_thread_that_shares_the_future) {
    constexpr int fibers = 200, threads = 4;
    promise<counted> made;
    const shared_future<counted> wanted = made.get_future();
    std::atomic<int> waiting{0}, got{0};
    std::vector<std::thread> others;
    for (int i = 0; i < threads; ++i)
        others.emplace_back([&, mine = wanted] {
            ++waiting;
            got += mine.get().value;
        });
    runtime.run([&] {
        std::vector<future<void>> all;
        for (int i = 0; i < fibers; ++i)
            all.push_back(sennit::async([&, mine = wanted] {
                ++waiting;
                got += mine.wait_for(1h) == future_status::ready ? mine.get().value : 0;
            }));
        while (waiting < fibers + threads) sennit::sched::yield();
        made.set_value(counted(1));
        sennit::wait_all(all);
    });
    for (std::thread& each : others) each.join();
    EXPECT_EQ(got, fibers + threads);
}

// The interface by which select waits for futures.
TEST_P(waits, strand_may_wait_for_several_futures_at_the_same_time) {
    using sennit::detail::future_access;
    namespace sched = sennit::sched;
    runtime.run([] {
        std::array<promise<int>, 2> made;
        std::array<future<int>, 2> wanted{made[0].get_future(), made[1].get_future()};
        const sennit::fiber setter([&] { made[1].set_value(7); });
        sched::wait_point point;
        sched::wait_entry first(point, 0), second(point, 1);
        EXPECT_TRUE(future_access::state(wanted[0]).add_waiter(first));
        sched::wake_reason why = sched::wake_reason::source;
        const bool second_waits = future_access::state(wanted[1]).add_waiter(second);
        if (second_waits) why = sched::wait(point, nullptr, nullptr);
        future_access::state(wanted[0]).remove_waiter(first);
        future_access::state(wanted[1]).remove_waiter(second);
        if (second_waits) {
            EXPECT_EQ(static_cast<int>(why) - static_cast<int>(sched::wake_reason::source), 1);
        }
        EXPECT_TRUE(future_access::state(wanted[1]).ready());
        EXPECT_FALSE(future_access::state(wanted[1]).add_waiter(second));
        EXPECT_FALSE(future_access::state(wanted[0]).ready());
        made[0].set_value(1); // wakes no strand
        EXPECT_EQ(wanted[0].get() + wanted[1].get(), 8);
    });
}

} // namespace
