// SPDX-License-Identifier: Apache-2.0
// Bugs of the scheduler and of waits that a reading has found, with the smallest program of each.
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

// A waiter whose time had run out waited for the user's lock, and then used the destroyed condition
// variable.
TEST(regress, destructor_waits_until_timed_out_waiter_has_left) {
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
            // Without this sleep the time may run out at this moment.
            if (round % 2 == 0) std::this_thread::sleep_for(3ms);
            changed->notify_all();
            changed.reset();
        }
        waiter.join();
    }
}

// On one worker the waiter has to run before the destructor can return.
TEST(regress, destructor_waits_for_timed_out_waiter_to_leave) {
    sennit::runtime runtime({.workers = 1,
                             .order = sennit::make_order<sennit::priority_order>,
                             .max_spare_workers = 0});
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
            // This loop occupies the only worker: the waiter's time runs out, but the waiter does
            // not run.
            while (std::chrono::steady_clock::now() < until) {
            }
            changed->notify_all();
            changed.reset();
        }
        waiter.join();
    });
}

// The local of a bound fiber was destroyed on the worker on which its destructor continued, which
// could be any worker.
struct blocks_at_its_end {
    sennit::runtime* runtime = nullptr;
    bool* same = nullptr;
    ~blocks_at_its_end() {
        if (!same) return;
        const std::thread::id before = std::this_thread::get_id();
        const sennit::fiber busy({.runtime = runtime, .worker = 0u}, [] {
            const auto until = std::chrono::steady_clock::now() + 20ms;
            // The loop occupies the worker that the bound fiber needs.
            while (std::chrono::steady_clock::now() < until) {
            }
        });
        sennit::this_fiber::sleep_for(2ms);
        *same = std::this_thread::get_id() == before;
    }
};
TEST(regress, locals_of_a_bound_fiber_are_destroyed_on_its_worker) {
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

// A loop of zero-length sleeps was never cancelled.
TEST(regress, cancellation_ends_a_loop_of_zero_sleeps) {
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

// A trace with a name that was cut within a character was not valid text.
TEST(regress, trace_cuts_a_name_between_characters) {
    sennit::run([] {
        sennit::fiber named({.name = "a fiber that is called \u00e9"},
                            [] { // the name's 23rd byte is within its last character
                                EXPECT_EQ(sennit::this_fiber::name(), "a fiber that is called ");
                            });
        sennit::fiber umlaut({.name = "a fiber that is calle \u00e9"}, [] {
            EXPECT_EQ(sennit::this_fiber::name(), "a fiber that is calle ");
        });
    });
}

// Two fibers shared their properties. A change for one of them corrupted the queue of the
// scheduling order.
TEST(regress, two_fibers_cannot_share_properties) {
    const auto shared = std::make_shared<sennit::fiber_properties>(1);
    {
        sennit::fiber first({.properties = shared}, [] {});
        EXPECT_THROW(sennit::fiber({.properties = shared}, [] {}), std::invalid_argument);
        EXPECT_NO_THROW(sennit::fiber(
            {.properties = std::make_shared<sennit::fiber_properties>(*shared)}, [] {}));
    }
    // The properties are free again once that fiber is gone.
    EXPECT_NO_THROW(sennit::fiber({.properties = shared}, [] {}));
}

// The pinned queue of the fiber wrote that the fiber is in no order, while the change read that
// word (found by ThreadSanitizer).
TEST(regress, priority_changes_while_the_worker_takes_its_fiber) {
    sennit::runtime runtime({.workers = 1, .order = sennit::make_order<sennit::priority_order>});
    for (int i = 0; i < 300; ++i) {
        sennit::fiber bound({.runtime = &runtime, .priority = 1, .worker = 0u}, [] {
            for (int k = 0; k < 3; ++k) sennit::this_fiber::yield();
        });
        bound.set_priority(2);
    }
}

// A dump counted the tasks in an order once for each stack that the tasks already had.
TEST(regress, dump_counts_each_task_of_an_order_once) {
    sennit::runtime runtime({.workers = 1,
                             .order = sennit::make_order<sennit::priority_order>,
                             .max_spare_workers = 0});
    std::ostringstream text;
    runtime.run([&] {
        std::atomic<bool> end = false;
        const auto turns = [&] {
            while (!end) sennit::this_fiber::yield();
        };
        const sennit::fiber one(turns), two(turns), three(turns);
        sennit::this_fiber::yield(); // the fibers have begun
        const sennit::fiber fresh([] {}), other([] {});
        runtime.dump(text);
        end = true;
    });
    EXPECT_NE(
        text.str().find("4 strands: 1 running, 3 ready, 0 blocked, 0 below others; 2 other pieces"),
        std::string::npos)
        << text.str();
}

// The yielding fiber ran 60 times before the next fiber from the injector.
TEST(regress, yielding_fiber_lets_fibers_of_the_injector_run) {
    constexpr int many = 1000;
    sennit::runtime runtime({.workers = 1, .max_spare_workers = 0});
    std::atomic<bool> begun{false};
    std::atomic<bool> all_came{false};
    int ran = 0;
    int yields = 0;
    std::thread waits([&] {
        runtime.run([&] {
            begun = true;
            // The fibers arrive while the worker is busy.
            while (!all_came) std::this_thread::yield();
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

// A bound fiber that yields in a loop lies in its worker's pinned queue each time, and the worker
// polled that queue first each time.
int yields_until(const std::atomic<bool>& seen) {
    int yields = 0;
    for (; !seen && yields < 10'000; ++yields) sennit::this_fiber::yield();
    return yields;
}

TEST(regress, yielding_bound_fiber_lets_unbound_fibers_run) {
    sennit::runtime runtime({.workers = 1, .max_spare_workers = 0});
    std::atomic<bool> begun{false};
    std::atomic<bool> came{false};
    std::atomic<bool> ran{false};
    int yields = 0;
    sennit::fiber bound({.runtime = &runtime, .pinned = true}, [&] {
        begun = true;
        while (!came) std::this_thread::yield(); // the fiber arrives while the worker is busy
        yields = yields_until(ran);
    });
    while (!begun) std::this_thread::yield();
    sennit::fiber other({.runtime = &runtime}, [&] { ran = true; });
    came = true;
    bound.join();
    other.join();
    EXPECT_LE(yields, 200);
}

// The worker found a fiber that yields outside the worker's own queue before it looked at the
// fiber's forks.
TEST(regress, yield_outside_the_own_queue_does_not_starve_a_fork) {
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

// A thief read the affinity of a context, to learn if it might run the context's forks, while the
// context's worker yielded, continued and wrote that word (found by ThreadSanitizer).
TEST(regress, round_robin_worker_looks_at_forks_of_a_running_owner) {
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
// AddressSanitizer's stack of each context was not freed: 30 MB of addresses for each runtime.
TEST(regress, address_sanitizer_stacks_end_with_their_runtime) {
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
                    int* volatile seen =
                        &mine; // the object lies on the stack that ends with the function
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
