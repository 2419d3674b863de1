// SPDX-License-Identifier: Apache-2.0
// Bugs of the scheduler and of what waits that a reading has found, the smallest program of each.
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <vector>

namespace sched_review {
namespace {

using namespace std::chrono_literals;

// One whose time had run out waited for the user's lock, and used the condition variable when it
// had that.
TEST(regress, a_condition_variable_ends_before_one_whose_time_has_run_out_goes_on) {
    for (int round = 0; round < 20; ++round) {
        sennit::mutex mutex;
        auto changed = std::make_unique<sennit::condition_variable>();
        bool waits = false;
        std::thread waiter([&] {
            std::unique_lock lock(mutex);
            waits = true;
            (void)changed->wait_for(lock, 1ms);
        });
        for (bool seen = false; !seen; std::this_thread::yield()) {
            const std::lock_guard lock(mutex);
            seen = waits;
        }
        {
            const std::unique_lock lock(mutex);
            if (round % 2 == 0)
                std::this_thread::sleep_for(3ms); // else it may be just then that the time runs out
            changed->notify_all();
            changed.reset();
        }
        waiter.join();
    }
}

// The same on one worker, whose waiter has to run for that.
TEST(regress, a_condition_variable_waits_for_who_is_on_the_way_out) {
    sennit::runtime runtime({.workers = 1, .order = sennit::make_order<sennit::priority_order>});
    runtime.run([] {
        sennit::mutex mutex;
        std::optional<sennit::condition_variable> changed(std::in_place);
        std::atomic<bool> waits = false;
        sennit::fiber waiter({.priority = -3}, [&] {
            std::unique_lock lock(mutex);
            waits = true;
            (void)changed->wait_for(lock, 1ms);
        });
        while (!waits) sennit::this_fiber::sleep_for(100us);
        {
            const std::unique_lock lock(mutex);
            const auto until = std::chrono::steady_clock::now() + 3ms;
            while (std::chrono::steady_clock::now() <
                   until) { // the only worker: its time runs out, it does not run
            }
            changed->notify_all();
            changed.reset();
        }
        waiter.join();
    });
}

// A bound fiber's local was destroyed where its destructor went on, on any worker.
struct blocks_at_its_end {
    sennit::runtime* runtime = nullptr;
    bool* same = nullptr;
    ~blocks_at_its_end() {
        if (!same) return;
        const std::thread::id before = std::this_thread::get_id();
        const sennit::fiber busy({.runtime = runtime, .worker = 0u}, [] {
            const auto until = std::chrono::steady_clock::now() + 20ms;
            while (std::chrono::steady_clock::now() < until) { // while that worker is wanted
            }
        });
        sennit::this_fiber::sleep_for(2ms);
        *same = std::this_thread::get_id() == before;
    }
};
TEST(regress, locals_of_a_bound_fiber_are_destroyed_where_it_is_bound) {
    static sennit::fiber_local<blocks_at_its_end> local;
    sennit::runtime runtime({.workers = 2});
    bool same = false;
    sennit::fiber bound({.runtime = &runtime, .worker = 0u}, [&] {
        local.get().runtime = &runtime;
        local.get().same = &same;
    });
    bound.join();
    EXPECT_TRUE(same);
}

// A loop of sleeps that take no time was never cancelled.
TEST(regress, a_sleep_of_no_time_is_cancelled) {
    EXPECT_THROW(sennit::run([] {
                     sennit::with_timeout(1ms, [] {
                         for (;;) {
                             sennit::this_fiber::sleep_for(0ns);
                             sennit::this_fiber::sleep_until(
                                 std::chrono::steady_clock::time_point());
                             sennit::this_fiber::yield();
                         }
                     });
                 }),
                 sennit::timed_out);
}

// A trace with a name that was cut within a character was no text.
TEST(regress, a_name_is_cut_between_characters) {
    sennit::run([] {
        sennit::fiber named({.name = "a fiber that is called \u00e9"},
                            [] { // its 23rd byte is within the last one
                                EXPECT_EQ(sennit::this_fiber::name(), "a fiber that is called ");
                            });
        sennit::fiber umlaut({.name = "a fiber that is calle \u00e9"}, [] {
            EXPECT_EQ(sennit::this_fiber::name(), "a fiber that is calle ");
        });
    });
}

// The queue of an order was corrupted when they changed for one of two that shared them.
TEST(regress, properties_are_of_one_fiber) {
    const auto shared = std::make_shared<sennit::fiber_properties>(1);
    {
        sennit::fiber first({.properties = shared}, [] {});
        EXPECT_THROW(sennit::fiber({.properties = shared}, [] {}), std::invalid_argument);
        EXPECT_NO_THROW(sennit::fiber(
            {.properties = std::make_shared<sennit::fiber_properties>(*shared)}, [] {}));
    }
    EXPECT_NO_THROW(sennit::fiber({.properties = shared}, [] {})); // once that one is gone
}

// The inbox that it came by wrote that it is in no order while the change asked (ThreadSanitizer).
TEST(regress, a_priority_changes_while_the_worker_takes_its_fiber) {
    sennit::runtime runtime({.workers = 1, .order = sennit::make_order<sennit::priority_order>});
    for (int i = 0; i < 300; ++i) {
        sennit::fiber bound({.runtime = &runtime, .priority = 1, .worker = 0u}, [] {
            for (int k = 0; k < 3; ++k) sennit::this_fiber::yield();
        });
        bound.set_priority(2);
    }
}

// A dump counted what an order held as often as that had stacks already.
TEST(regress, what_waits_in_an_order_is_dumped_once) {
    sennit::runtime runtime({.workers = 1, .order = sennit::make_order<sennit::priority_order>});
    std::ostringstream text;
    runtime.run([&] {
        std::atomic<bool> end = false;
        const auto turns = [&] {
            while (!end) sennit::this_fiber::yield();
        };
        const sennit::fiber one(turns), two(turns), three(turns);
        sennit::this_fiber::yield(); // they have begun
        const sennit::fiber fresh([] {}), other([] {});
        runtime.dump(text);
        end = true;
    });
    EXPECT_NE(
        text.str().find("4 strands: 1 running, 3 ready, 0 blocked, 0 below others; 2 other pieces"),
        std::string::npos)
        << text.str();
}

// It came back 60 times before the next of those that wait outside.
TEST(regress, who_yields_alone_lets_in_who_waits_outside) {
    constexpr int many = 1000;
    sennit::runtime runtime({.workers = 1, .max_spare_workers = 0});
    std::atomic<bool> begun{false};
    std::atomic<bool> all_came{false};
    int ran = 0;
    int yields = 0;
    std::thread waits([&] {
        runtime.run([&] {
            begun = true;
            while (!all_came) std::this_thread::yield(); // they come while the worker is busy
            while (ran < many) {
                sennit::this_fiber::yield();
                ++yields;
            }
        });
    });
    while (!begun) std::this_thread::yield();
    std::vector<sennit::fiber> fibers;
    for (int i = 0; i < many; ++i)
        fibers.push_back(sennit::fiber({.runtime = &runtime}, [&ran] { ++ran; }));
    all_came = true;
    waits.join();
    for (sennit::fiber& one : fibers) one.join();
    EXPECT_LE(yields, 2 * many);
}

// A bound one that yields in a loop lies in its worker's inbox each time, which was asked first
// each time.
int yields_until(const std::atomic<bool>& seen) {
    int yields = 0;
    for (; !seen && yields < 10'000; ++yields) sennit::this_fiber::yield();
    return yields;
}

TEST(regress, a_bound_fiber_that_yields_lets_in_what_anybody_may_run) {
    sennit::runtime runtime({.workers = 1, .max_spare_workers = 0});
    std::atomic<bool> begun{false};
    std::atomic<bool> came{false};
    std::atomic<bool> ran{false};
    int yields = 0;
    sennit::fiber bound({.runtime = &runtime, .pinned = true}, [&] {
        begun = true;
        while (!came) std::this_thread::yield(); // it comes while the worker is busy
        yields = yields_until(ran);
    });
    while (!begun) std::this_thread::yield();
    sennit::fiber other({.runtime = &runtime}, [&] { ran = true; });
    came = true;
    bound.join();
    other.join();
    EXPECT_LE(yields, 200);
}

// Whoever yields outside its worker's own queue was found there before its forks were looked at.
TEST(regress, who_yields_outside_does_not_starve_its_own_fork) {
    const auto yields_of_two = [](sennit::runtime& runtime, bool pinned) {
        std::atomic<bool> ran{false};
        int most = 0;
        sennit::fiber one({.runtime = &runtime, .pinned = pinned}, [&] {
            sennit::fork_join([&] { most = yields_until(ran); }, [&] { ran = true; });
        });
        sennit::fiber two({.runtime = &runtime, .pinned = pinned},
                          [&] { (void)yields_until(ran); });
        one.join();
        two.join();
        return most;
    };
    sennit::runtime stealing({.workers = 1, .max_spare_workers = 0});
    EXPECT_LE(yields_of_two(stealing, true), 200);
    sennit::runtime sharing(
        {.workers = 1, .policy = sennit::scheduling::sharing, .max_spare_workers = 0});
    EXPECT_LE(yields_of_two(sharing, false), 200);
}

// Another worker read whose forks it might run while who had yielded, and ran on, wrote that
// (ThreadSanitizer).
TEST(regress, round_robin_looks_at_forks_whose_owner_runs_on) {
    sennit::runtime runtime({.workers = 2, .policy = sennit::scheduling::round_robin});
    const auto two_that_yield = [] {
        for (int i = 0; i < 5; ++i)
            sennit::fork_join([] { sennit::this_fiber::yield(); },
                              [] { sennit::this_fiber::yield(); });
    };
    for (int round = 0; round < 100; ++round)
        runtime.run([&] {
            std::vector<sennit::fiber> all;
            for (int i = 0; i < 4; ++i) all.emplace_back(two_that_yield);
            for (sennit::fiber& one : all) one.join();
        });
}

#ifdef SENNIT_ADDRESS_SANITIZER
// AddressSanitizer's stack of each context stayed, 30 MB of addresses a runtime.
TEST(regress, the_stacks_of_address_sanitizer_end_with_their_runtime) {
    const auto pages = [] {
        long all = 0;
        std::ifstream("/proc/self/statm") >> all;
        return all;
    };
    const auto brief = [] {
        sennit::runtime runtime({.workers = 1});
        runtime.run([] {
            sennit::latch here(10);
            std::vector<sennit::fiber> all;
            for (int i = 0; i < 10; ++i)
                all.emplace_back([&here] {
                    int mine = 0;
                    int* volatile seen = &mine; // on the stack that ends with the function
                    *seen = 1;
                    here.arrive_and_wait();
                });
            for (sennit::fiber& one : all) one.join();
        });
    };
    for (int i = 0; i < 5; ++i) brief();
    const long before = pages();
    for (int i = 0; i < 20; ++i) brief();
    EXPECT_LE(pages() - before, 150 * 256); // MiB
}
#endif

} // namespace
} // namespace sched_review
