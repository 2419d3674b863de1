// SPDX-License-Identifier: Apache-2.0
// Tests the promises of each policy, and that everything works under each policy with any number of
// workers.
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using sennit::scheduling;

constexpr auto by_priority = sennit::make_order<sennit::priority_order>;

struct policy {
    const char* name;
    sennit::runtime_options options;
};
policy policy_of(int number) {
    switch (number) {
    case 0:
        return {"stealing", {.policy = scheduling::stealing}};
    case 1:
        return {"sharing", {.policy = scheduling::sharing}};
    case 2:
        return {"round_robin", {.policy = scheduling::round_robin}};
    default:
        return {"priority", {.order = by_priority}};
    }
}

// A tree of fibers. Each parent receives the sums of its children through a channel.
long tree(long first, long leaves) {
    if (leaves == 1) return first;
    sennit::channel<long> sums(4);
    std::vector<sennit::fiber> children;
    for (long i = 0; i < 5; ++i)
        children.emplace_back(
            [&sums, i, first, leaves] { sums.push(tree(first + i * leaves / 5, leaves / 5)); });
    long sum = 0;
    for (long i = 0; i < 5; ++i) sum += *sums.pop();
    for (auto& one : children) one.join();
    return sum;
}

long fib(int n) {
    if (n < 2) return n;
    auto [a, b] = sennit::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
    return a + b;
}

// Uses each primitive once, with a strand that waits and a strand that ends the wait. Returns the
// number of primitives that worked.
int primitives_that_work() {
    int works = 0;
    sennit::fiber_local<int> own;
    sennit::once_flag flag;
    sennit::latch begun(3);
    sennit::barrier<> together(3);
    sennit::counting_semaphore<> tokens(0);
    sennit::shared_timed_mutex table;
    sennit::recursive_timed_mutex again;
    sennit::condition_variable changed;
    sennit::mutex guard;
    int stage = 0, once = 0; // `guard` guards `stage`.
    std::atomic<int> readers{0};
    {
        sennit::nursery all;
        for (int i = 0; i < 3; ++i)
            all.start([&, i] {
                own.get() = i;
                sennit::call_once(flag, [&] { ++once; });
                begun.arrive_and_wait();
                {
                    std::shared_lock read(table);
                    ++readers;
                }
                together.arrive_and_wait();
                if (i == 0) tokens.release(2);
                if (i != 0) tokens.acquire();
                std::unique_lock lock(guard);
                changed.wait(lock, [&] { return stage == i; });
                ++stage;
                changed.notify_all();
                std::lock_guard outer(again);
                if (again.try_lock_for(1h)) again.unlock();
                if (own.get() != i) stage = -100;
            });
        all.join();
    }
    works += stage == 3 && once == 1 && readers == 3 && !tokens.try_acquire();
    works += table.try_lock_for(1h);
    table.unlock();

    sennit::channel<int> meeting, buffered(2), quiet;
    sennit::event stop(sennit::event::mode::auto_reset);
    sennit::fiber sender([&] {
        sennit::select(sennit::on_push(meeting, 1, [] {}), sennit::on_pop(quiet, [](int) {}));
        (void)buffered.push(2);
        stop.set();
    });
    int got = 0;
    for (int i = 0; i < 2; ++i)
        sennit::select(sennit::on_pop(buffered, [&](int value) { got += value; }),
                       sennit::on_pop(meeting, [&](int value) { got += value; }));
    works += got == 3;
    works += sennit::select(sennit::on_pop(quiet, [](int) {}), sennit::after(20us, [] {})) == 1;
    works += stop.wait_for(1h);
    sender.join();

    sennit::promise<int> promised;
    auto sum = sennit::when_all(promised.get_future().then([](auto one) { return one.get() + 1; }),
                                sennit::async([] { return sennit::this_fiber::yield(), 2; }));
    promised.set_value(1);
    auto [a, b] = sum.get();
    works += a.get() + b.get() == 4;
    try {
        sennit::with_timeout(20us, [] { sennit::event().wait(); });
    } catch (const sennit::timed_out&) {
        ++works;
    }
    works += sennit::blocking([] { return 1; });
    return works;
}
constexpr int primitives_that_should_work = 8;

class every_policy : public testing::TestWithParam<std::tuple<int, unsigned>> {
protected:
    sennit::runtime_options options = [] {
        auto chosen = policy_of(std::get<0>(GetParam())).options;
        chosen.workers = std::get<1>(GetParam());
        return chosen;
    }();
};
INSTANTIATE_TEST_SUITE_P(all, every_policy,
                         testing::Combine(testing::Range(0, 4), testing::Range(1u, 25u)),
                         [](const auto& test) {
                             return std::string(policy_of(std::get<0>(test.param)).name) + "_" +
                                    std::to_string(std::get<1>(test.param));
                         });

TEST_P(every_policy, every_primitive_works) {
    sennit::runtime runtime(options);
    EXPECT_EQ(runtime.run(primitives_that_work), primitives_that_should_work);
    std::atomic<int> woken{0};
    sennit::event go;
    std::vector<std::thread> outside; // These threads create and wake fibers, too.
    for (int i = 0; i < 2; ++i)
        outside.emplace_back([&] {
            sennit::fiber one({.runtime = &runtime}, [&] {
                go.wait();
                ++woken;
            });
            one.join();
        });
    const long sum = runtime.run([&] {
        sennit::mutex guard;
        long counted = 0;
        {
            sennit::nursery all;
            for (int i = 0; i < 20; ++i)
                all.start([&] {
                    sennit::this_fiber::yield();
                    std::lock_guard inside(guard);
                    sennit::this_fiber::sleep_for(20us);
                    ++counted;
                });
            all.join();
        }
        go.set();
        return tree(0, 125) + fib(12) + counted;
    });
    for (auto& one : outside) one.join();
    EXPECT_EQ(sum, 124 * 125 / 2 + 144 + 20);
    EXPECT_EQ(woken, 2);
}

TEST(policy, round_robin_is_deterministic_on_one_worker) {
    const auto once = [] {
        sennit::runtime runtime({.workers = 1, .policy = scheduling::round_robin});
        return runtime.run([] {
            std::string order;
            std::vector<sennit::fiber> all;
            for (char who : {'a', 'b', 'c'})
                all.emplace_back([&order, who] {
                    for (int i = 0; i < 3; ++i) {
                        order += who;
                        sennit::this_fiber::yield();
                    }
                });
            for (auto& one : all) one.join();
            return order;
        });
    };
    EXPECT_EQ(once(), "abcabcabc");
}

TEST(policy, round_robin_keeps_fiber_on_its_thread) {
    sennit::runtime runtime({.workers = 3, .policy = scheduling::round_robin});
    sennit::channel<int> words;
    std::atomic<int> moved{0};
    const auto stays = [&](auto&& body) {
        return [&moved, body] {
            const auto where = std::this_thread::get_id();
            for (int i = 0; i < 100; ++i) {
                body();
                if (std::this_thread::get_id() != where) ++moved;
            }
        };
    };
    std::vector<sennit::fiber> all;
    for (int i = 0; i < 6; ++i)
        all.emplace_back(sennit::fiber_attributes{.runtime = &runtime},
                         stays([&] { words.push(1); }));
    for (int i = 0; i < 6; ++i)
        all.emplace_back(sennit::fiber_attributes{.runtime = &runtime},
                         stays([&] { words.pop(); }));
    for (int i = 0; i < 3; ++i)
        all.emplace_back(sennit::fiber_attributes{.runtime = &runtime}, stays([] {
                             sennit::this_fiber::yield();
                             EXPECT_EQ(fib(8), 21);
                             sennit::this_fiber::sleep_for(1us);
                         }));
    for (auto& one : all) one.join();
    EXPECT_EQ(moved, 0);
}

// Runs as many fibers as there are workers, each of which holds its worker. The fibers can meet
// only if all workers run them.
void meet_on_all_workers(const sennit::runtime_options& options) {
    sennit::runtime runtime(options);
    std::barrier everybody(static_cast<std::ptrdiff_t>(runtime.workers()));
    runtime.run([&] {
        std::vector<sennit::fiber> all;
        for (unsigned i = 0; i < runtime.workers(); ++i)
            all.emplace_back([&] { everybody.arrive_and_wait(); });
        for (auto& one : all) one.join();
    });
}
TEST(policy, stealing_and_sharing_use_all_workers) {
    meet_on_all_workers({.workers = 4, .policy = scheduling::stealing});
    meet_on_all_workers({.workers = 4, .policy = scheduling::sharing});
    meet_on_all_workers({.workers = 4, .order = by_priority});
}

TEST(policy, round_robin_distributes_fibers_from_outside) {
    sennit::runtime runtime({.workers = 4, .policy = scheduling::round_robin});
    std::barrier everybody(4);
    std::vector<sennit::fiber> all;
    for (int i = 0; i < 4; ++i)
        all.emplace_back(sennit::fiber_attributes{.runtime = &runtime},
                         [&] { everybody.arrive_and_wait(); });
    for (auto& one : all) one.join();
}

TEST(policy, sharing_runs_fibers_in_arrival_order) {
    sennit::runtime runtime({.workers = 1, .policy = scheduling::sharing});
    const std::string order = runtime.run([] {
        std::string seen;
        std::vector<sennit::fiber> all;
        for (char who = 'a'; who < 'g'; ++who) all.emplace_back([&seen, who] { seen += who; });
        for (auto& one : all) one.join();
        return seen;
    });
    EXPECT_EQ(order, "abcdef");
}

void expect_rejected(const sennit::runtime_options& options, const std::string& message) {
    try {
        sennit::runtime refused(options);
        FAIL() << "the runtime was created";
    } catch (const std::invalid_argument& error) {
        EXPECT_EQ(error.what(), message);
    }
}

TEST(policy, environment_sets_policy) {
    ::setenv("SENNIT_SCHEDULING", "round-robin", 1);
    {
        sennit::runtime runtime({.workers = 1});
        std::string order;
        runtime.run([&] {
            sennit::fiber a([&] { order += 'a'; });
            sennit::fiber b([&] { order += 'b'; });
            a.join();
        });
        EXPECT_EQ(order, "ab");
    }
    ::setenv("SENNIT_SCHEDULING", "fair", 1);
    expect_rejected({}, "sennit: [SNT-003] SENNIT_SCHEDULING must be stealing, sharing, "
                        "round-robin or priority, not 'fair'");
    // The variable applies only to runtimes whose options name no policy.
    sennit::runtime told({.workers = 1, .policy = scheduling::sharing});
    ::unsetenv("SENNIT_SCHEDULING");
}

TEST(policy, contradicting_options_are_refused) {
    expect_rejected({.policy = scheduling::stealing, .order = by_priority},
                    "sennit: [SNT-002] runtime_options::order needs the policy sharing; set "
                    "runtime_options::policy to "
                    "scheduling::sharing, or leave it unset");
    expect_rejected(
        {.order = [] { return std::unique_ptr<sennit::scheduling_order>(); }},
        "sennit: [SNT-012] runtime_options::order returned null; it must return the order to use");
}

} // namespace
