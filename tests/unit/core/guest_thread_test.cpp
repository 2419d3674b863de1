// SPDX-License-Identifier: Apache-2.0
// Tests the main thread as a guest, which runs its call in the place of a parked worker.
#include <sennit/detail/sys/single_threaded.hpp>
#include <sennit/detail/sys/worker_tls.hpp>
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cfenv>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

// Calls `run` until it has run its function on this thread: a worker is parked then. A worker parks
// before each call, because calls in a row keep it awake.
void be_guest_once(sennit::runtime& runtime) {
    const std::thread::id mine = std::this_thread::get_id();
    std::uint64_t parks = 0;
    do {
        while (runtime.metrics().parks == parks) std::this_thread::yield();
        parks = runtime.metrics().parks;
    } while (runtime.run([] { return std::this_thread::get_id(); }) != mine);
}

long fibonacci(int n) {
    if (n < 2) return n;
    auto [a, b] =
        sennit::fork_join([n] { return fibonacci(n - 1); }, [n] { return fibonacci(n - 2); });
    return a + b;
}

class guest_thread : public testing::TestWithParam<unsigned> {
protected:
    sennit::runtime runtime{{.workers = GetParam()}};
};

TEST_P(guest_thread, main_thread_runs_its_call) {
    be_guest_once(runtime);
    EXPECT_FALSE(sennit::detail::on_any_worker());
}

// A thread with a bias id updates its locks plainly (single_threaded.hpp).
TEST_P(guest_thread, guest_has_bias_id_like_worker) {
    const auto id = [] { return sennit::base::own_bias_id(); };
    std::uint32_t of_worker = 0;
    std::thread([&] { of_worker = runtime.run(id); }).join();
    const std::thread::id mine = std::this_thread::get_id();
    for (bool was_guest = false; !was_guest;) {
        be_guest_once(runtime);
        runtime.run([&] {
            was_guest = std::this_thread::get_id() == mine;
            if (!was_guest) return;
            EXPECT_EQ(id() != 0, of_worker != 0);
        });
    }
}

TEST_P(guest_thread, other_threads_are_no_guests) {
    std::thread([this] {
        const std::thread::id mine = std::this_thread::get_id();
        for (int i = 0; i < 20; ++i)
            EXPECT_NE(runtime.run([] { return std::this_thread::get_id(); }), mine);
    }).join();
}

TEST_P(guest_thread, forks_of_many_calls_are_joined) {
    for (int i = 0; i < 300; ++i) ASSERT_EQ(runtime.run([] { return fibonacci(12); }), 144);
    std::vector<int> numbers(20'000, 1);
    for (int i = 0; i < 50; ++i)
        ASSERT_EQ(runtime.run([&] { return sennit::par::reduce(numbers, 0, std::plus<>{}); }),
                  20'000);
}

TEST_P(guest_thread, call_that_waits_continues_on_worker) {
    for (int i = 0; i < 200; ++i) {
        int steps = 0;
        runtime.run([&] {
            ++steps;
            sennit::fiber other([&] { ++steps; });
            sennit::this_fiber::yield();
            other.join();
            sennit::this_fiber::sleep_for(std::chrono::microseconds(1));
            EXPECT_TRUE(sennit::detail::on_any_worker());
            ++steps;
        });
        ASSERT_EQ(steps, 3);
    }
}

TEST_P(guest_thread, call_leaves_fibers_behind) {
    std::atomic<int> ended{0};
    sennit::latch all(200);
    for (int i = 0; i < 200; ++i)
        runtime.run([&] {
            sennit::fiber([&] {
                ++ended;
                all.count_down();
            }).detach();
        });
    all.wait();
    EXPECT_EQ(ended, 200);
}

TEST_P(guest_thread, exceptions_come_out_and_those_of_the_caller_stay) {
    try {
        throw std::runtime_error("the caller's");
    } catch (const std::runtime_error& mine) {
        for (int i = 0; i < 50; ++i) {
            EXPECT_THROW(runtime.run([] {
                EXPECT_EQ(std::current_exception(), nullptr);
                throw std::logic_error("the call's");
            }),
                         std::logic_error);
            EXPECT_THROW(std::rethrow_exception(std::current_exception()), std::runtime_error);
        }
        EXPECT_STREQ(mine.what(), "the caller's");
    }
}

// Tasks block worker threads in a mutex that the caller holds. A guest that ran one of them while
// its call waits would lock the mutex twice.
TEST_P(guest_thread, caller_may_hold_mutex_that_tasks_want) {
    std::mutex held;
    std::atomic<bool> over{false};
    int locked = 0;
    sennit::nursery tasks;
    for (int i = 0; i < 3; ++i)
        tasks.start({.runtime = &runtime}, [&] {
            do {
                {
                    std::lock_guard guard(held);
                    ++locked;
                }
                sennit::this_fiber::yield();
            } while (!over);
        });
    for (int i = 0; i < 50; ++i) {
        std::lock_guard guard(held);
        EXPECT_EQ(runtime.run([] { return fibonacci(10); }), 55);
    }
    over = true;
    tasks.join();
    EXPECT_GE(locked, 3);
}

TEST_P(guest_thread, dump_shows_call_of_guest) {
    be_guest_once(runtime);
    std::string text;
    const auto look = [&] {
        std::ostringstream out;
        runtime.dump(out);
        text = out.str();
    };
    const std::thread::id mine = std::this_thread::get_id();
    while (runtime.run([&] {
        if (std::this_thread::get_id() != mine) return true;
        std::thread(look).join(); // Blocks this thread, which the dump halts.
        return false;
    }))
        std::this_thread::yield();
    EXPECT_NE(text.find("running on worker"), std::string::npos) << text;
    std::thread(look).join();
    be_guest_once(runtime);
}

TEST_P(guest_thread, thread_with_other_rounding_mode_posts_its_call) {
    be_guest_once(runtime);
    ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
    const int seen = runtime.run([] { return std::fegetround(); });
    const int kept = std::fegetround();
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(seen, FE_TONEAREST);
    EXPECT_EQ(kept, FE_UPWARD);
    be_guest_once(runtime);
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

INSTANTIATE_TEST_SUITE_P(workers, guest_thread, testing::Values(1u, 2u, 3u, 8u));

TEST(guest_thread_options, other_policies_and_bound_workers_admit_no_guest) {
    const std::thread::id mine = std::this_thread::get_id();
    for (const sennit::scheduling policy :
         {sennit::scheduling::sharing, sennit::scheduling::round_robin}) {
        sennit::runtime runtime({.workers = 2, .policy = policy});
        for (int i = 0; i < 20; ++i)
            EXPECT_NE(runtime.run([] { return std::this_thread::get_id(); }), mine);
    }
}

TEST(guest_thread_options, call_wakes_no_worker_if_it_makes_no_work) {
    sennit::runtime runtime({.workers = 1, .max_spare_workers = 0});
    be_guest_once(runtime);
    const std::uint64_t before = runtime.metrics().wakes;
    for (int i = 0; i < 100; ++i) be_guest_once(runtime);
    EXPECT_EQ(runtime.metrics().wakes, before);
}

// Each call left a request for work behind. The lone worker then moved half of its queue away, and
// its first pick was a global poll. The runtimes are new, because the worker makes a global poll
// after some picks in any case.
TEST(guest_thread_options, lone_worker_begins_fibers_of_guest_in_usual_order) {
    for (int i = 0; i < 20; ++i)
        for (const auto& [policy, expected] : {std::pair(sennit::launch::in_order, "abcd"),
                                               std::pair(sennit::launch::enqueue, "dcba")}) {
            sennit::runtime runtime({.workers = 1, .max_spare_workers = 0});
            be_guest_once(runtime);
            std::string order;
            runtime.run([&] {
                sennit::nursery all;
                for (char name = 'a'; name != 'e'; ++name)
                    all.start({.policy = policy}, [&order, name] { order += name; });
                all.join();
            });
            ASSERT_EQ(order, expected);
        }
}

// A thief may send its request to the line of a guest that has left.
TEST(guest_thread_options, late_request_for_work_does_no_harm) {
    sennit::sys::tls().steal_requested.store(1);
    sennit::checkpoint();
    EXPECT_EQ(sennit::sys::tls().steal_requested.load(), 0u);
}

// A context that was made while a task with another rounding mode gave up its stack kept that mode
// as its usual one, and left it to the thread.
TEST(guest_thread_options, new_stack_has_usual_rounding_mode) {
    sennit::runtime runtime({.workers = 1, .max_spare_workers = 0});
    std::vector<int> modes;
    runtime.run([&] {
        std::fesetround(FE_DOWNWARD);
        sennit::event go;
        sennit::nursery tasks;
        for (int i = 0; i < 40; ++i)
            tasks.start([&] {
                modes.push_back(std::fegetround());
                go.wait();
                modes.push_back(std::fegetround());
            });
        sennit::this_fiber::yield();
        go.set();
        tasks.join();
        EXPECT_EQ(std::fegetround(), FE_DOWNWARD);
        std::fesetround(FE_TONEAREST);
    });
    EXPECT_EQ(modes, std::vector<int>(80, FE_TONEAREST));
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

} // namespace
