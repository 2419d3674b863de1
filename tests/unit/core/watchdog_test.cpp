// SPDX-License-Identifier: Apache-2.0
// Tests the watchdog: ready work does not wait for a worker that makes no progress. No test has its
// own time limit, because a broken promise would hang it.
#include "child_process.hpp"
#include "core/diagnostics/snapshot.hpp"
#include "core/runtime/runtime_core.hpp"

#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

// Occupies all workers except the caller's, until `until` is true.
std::vector<sennit::fiber> occupy_others(unsigned workers, std::atomic<bool>& until) {
    auto begun = std::make_shared<std::atomic<unsigned>>(0);
    std::vector<sennit::fiber> busy;
    for (unsigned i = 1; i < workers; ++i)
        busy.emplace_back([&until, begun] {
            ++*begun;
            while (!until.load()) {
            }
        });
    while (*begun != workers - 1) std::this_thread::yield();
    return busy;
}

void join_all(std::vector<sennit::fiber>& all) {
    for (auto& one : all) one.join();
}

// Returns when all activated spare workers have been released.
void expect_all_taken_back(sennit::runtime& runtime) {
    EXPECT_GE(runtime.metrics().spares_activated, 1u);
    for (;;) {
        const sennit::runtime_metrics now = runtime.metrics();
        if (now.spares_released == now.spares_activated) return;
        runtime.run([] { sennit::this_fiber::yield(); });
    }
}

// Only a spare worker can run the fiber that ends the loops, because all workers are in a loop.
void run_what_waits_behind_a_loop(sennit::runtime& runtime) {
    runtime.run([&] {
        std::atomic<bool> open{false};
        auto busy = occupy_others(runtime.workers(), open);
        sennit::fiber waits([&] { open = true; });
        while (!open.load()) {
        }
        waits.join();
        join_all(busy);
    });
}

class watchdog_with_workers : public testing::TestWithParam<unsigned> {
protected:
    std::atomic<bool> open_{false};
};

TEST_P(watchdog_with_workers, spare_worker_runs_fiber_behind_loop_and_is_released) {
    sennit::runtime runtime({.workers = GetParam()});
    for (int round = 0; round < 3; ++round) {
        run_what_waits_behind_a_loop(runtime);
        expect_all_taken_back(runtime);
    }
}

TEST_P(watchdog_with_workers, spare_worker_runs_fiber_behind_blocked_thread) {
    sennit::runtime runtime({.workers = GetParam()});
    runtime.run([&] {
        std::atomic<bool> open{false};
        std::promise<void> done;
        auto busy = occupy_others(runtime.workers(), open);
        sennit::fiber waits([&] { done.set_value(); });
        done.get_future().wait();
        open = true;
        waits.join();
        join_all(busy);
    });
    expect_all_taken_back(runtime);
}

TEST_P(watchdog_with_workers, spare_worker_runs_fiber_from_outside) {
    sennit::runtime runtime({.workers = GetParam()});
    std::atomic<bool> open{false}, occupied{false};
    std::thread outside([&] {
        while (!occupied.load()) std::this_thread::yield();
        sennit::fiber({.runtime = &runtime}, [&] { open = true; }).join();
    });
    runtime.run([&] {
        auto busy = occupy_others(runtime.workers(), open);
        occupied = true;
        while (!open.load()) {
        }
        join_all(busy);
    });
    outside.join();
    expect_all_taken_back(runtime);
}

// A snapshot once read the list of workers and their threads while the watchdog added to them.
TEST_P(watchdog_with_workers, spare_worker_is_activated_during_snapshots) {
    sennit::runtime runtime({.workers = GetParam()});
    std::atomic<bool> over{false};
    std::thread looks([&] {
        while (!over.load())
            EXPECT_GE(sennit::sched::snapshot::take(runtime.core()).workers.size(),
                      runtime.workers());
    });
    run_what_waits_behind_a_loop(runtime);
    over = true;
    looks.join();
    expect_all_taken_back(runtime);
}

TEST_P(watchdog_with_workers, spare_worker_expires_timers) {
    sennit::runtime runtime({.workers = GetParam()});
    runtime.run([&] {
        std::atomic<bool> open{false}, asleep{false};
        sennit::fiber sleeper([&] {
            asleep = true;
            sennit::this_fiber::sleep_for(50ms);
            open = true;
        });
        while (!asleep.load()) sennit::this_fiber::yield();
        auto busy = occupy_others(runtime.workers(), open);
        while (!open.load()) {
        }
        sleeper.join();
        join_all(busy);
    });
}

TEST_P(watchdog_with_workers, spare_worker_serves_shared_queue_and_orders) {
    const sennit::runtime_options sharing{.workers = GetParam(),
                                          .policy = sennit::scheduling::sharing};
    const sennit::runtime_options ordered{.workers = GetParam(),
                                          .order = sennit::make_order<sennit::priority_order>};
    for (const auto& options : {sharing, ordered}) {
        sennit::runtime runtime(options);
        run_what_waits_behind_a_loop(runtime);
        expect_all_taken_back(runtime);
    }
}

// Each of the first fibers that a spare worker takes gets stuck, too.
TEST_P(watchdog_with_workers, stuck_spare_workers_get_spare_workers) {
    sennit::runtime runtime({.workers = GetParam(), .max_spare_workers = 3});
    runtime.run([&] {
        std::atomic<bool> open{false};
        std::atomic<int> begun{0};
        auto busy = occupy_others(runtime.workers(), open);
        std::vector<sennit::fiber> rest;
        for (int i = 0; i < 3; ++i)
            rest.emplace_back([&] {
                if (++begun == 3) open = true;
                while (!open.load()) {
                }
            });
        while (!open.load()) {
        }
        join_all(rest);
        join_all(busy);
    });
    expect_all_taken_back(runtime);
}

TEST_P(watchdog_with_workers, activation_and_release_lose_no_fibers) {
    sennit::runtime runtime({.workers = GetParam()});
    for (int round = 0; round < 10; ++round) {
        std::atomic<int> ran{0}, failed{0};
        runtime.run([&] {
            std::vector<sennit::fiber> all;
            for (int i = 0; i < 200; ++i)
                all.emplace_back([&] {
                    for (int k = 0; k < 5; ++k) sennit::this_fiber::yield();
                    auto [a, b] = sennit::fork_join([] { return 20; }, [] { return 22; });
                    failed += a + b != 42;
                    ++ran;
                });
            // With one worker, only a spare worker runs these fibers. The spare worker is released
            // while it still holds some of them.
            while (ran.load() <= 20 * round) {
            }
            join_all(all);
        });
        EXPECT_EQ(ran, 200);
        EXPECT_EQ(failed, 0);
    }
    if (GetParam() == 1) expect_all_taken_back(runtime);
}

// A fiber that a spare worker creates and pins to the current worker is bound to a regular worker.
TEST_P(watchdog_with_workers, pinned_fiber_is_not_bound_to_spare_worker) {
    sennit::runtime runtime({.workers = GetParam()});
    std::vector<std::thread::id> workers;
    for (unsigned i = 0; i < GetParam(); ++i)
        sennit::fiber({.runtime = &runtime, .worker = i}, [&] {
            workers.push_back(std::this_thread::get_id());
        }).join();
    runtime.run([&] {
        std::atomic<bool> open{false};
        std::thread::id ran_on;
        auto busy = occupy_others(runtime.workers(), open);
        sennit::fiber bound;
        sennit::fiber waits([&] {
            bound = sennit::fiber({.pinned = true}, [&] { ran_on = std::this_thread::get_id(); });
            open = true;
        });
        while (!open.load()) {
        }
        waits.join();
        bound.join();
        join_all(busy);
        EXPECT_EQ(std::count(workers.begin(), workers.end(), ran_on), 1);
    });
}

struct one_more {
    using reply = int;
};
class watched_tally : public sennit::actor<watched_tally, one_more> {
public:
    explicit watched_tally(std::atomic<int>& handled) : handled_(handled) {}
    int on(one_more) { return ++handled_; }

private:
    std::atomic<int>& handled_;
};

// The last batch of the mailbox ran on a spare worker that has since been released.
TEST_P(watchdog_with_workers, actor_receives_messages_after_spare_worker_is_released) {
    sennit::runtime runtime({.workers = GetParam()});
    std::atomic<int> handled{0};
    sennit::actor_group actors(runtime);
    const auto target = actors.spawn<watched_tally>(handled);
    for (int round = 0; round < 3; ++round) {
        runtime.run([&] {
            auto busy = occupy_others(runtime.workers(), open_);
            const int before = handled;
            auto answer = target.ask(one_more{});
            while (handled.load() == before) {
            }
            open_ = true;
            answer.get();
            join_all(busy);
            open_ = false;
        });
        expect_all_taken_back(runtime);
        const int before = handled;
        // Asks from a thread that is not a worker.
        EXPECT_EQ(target.ask(one_more{}).get(), before + 1);
    }
}

TEST_P(watchdog_with_workers, watchdog_ends_with_runtime_at_any_moment) {
    for (int round = 0; round < 30; ++round) {
        std::atomic<int> ran{0};
        {
            sennit::runtime runtime({.workers = GetParam()});
            runtime.run([&] {
                for (int i = 0; i < 20; ++i)
                    sennit::fiber([&] {
                        sennit::this_fiber::yield();
                        ++ran;
                    }).detach();
                while (ran.load() == 0) {
                }
            });
        }
        ASSERT_EQ(ran, 20);
    }
}

TEST_P(watchdog_with_workers, exception_leaves_fiber_on_spare_worker) {
    sennit::runtime runtime({.workers = GetParam()});
    runtime.run([&] {
        std::atomic<bool> open{false};
        auto busy = occupy_others(runtime.workers(), open);
        sennit::future<int> fails = sennit::async([&]() -> int {
            open = true;
            throw std::runtime_error("from the spare worker");
        });
        while (!open.load()) {
        }
        EXPECT_THROW(fails.get(), std::runtime_error);
        join_all(busy);
    });
}

INSTANTIATE_TEST_SUITE_P(, watchdog_with_workers, testing::Values(1u, 2u, 3u, 8u),
                         [](const auto& test) {
                             return std::string(1, 'w').append(std::to_string(test.param));
                         });

// An unwatched runtime gets no spare worker during the time in which a watched runtime gets five.
TEST(watchdog, watchdog_can_be_off_and_moves_no_bound_fibers) {
    const sennit::runtime_options off{.workers = 1, .max_spare_workers = 0};
    const sennit::runtime_options bound{.workers = 1, .policy = sennit::scheduling::round_robin};
    for (const auto& options : {off, bound}) {
        sennit::runtime unwatched(options), watched({.workers = 1});
        std::atomic<bool> occupied{false}, release{false}, ran{false};
        std::thread other([&] {
            unwatched.run([&] {
                sennit::fiber waits([&] { ran = true; });
                occupied = true;
                while (!release.load()) {
                }
                waits.join();
            });
        });
        while (!occupied.load()) std::this_thread::yield();
        for (int i = 0; i < 5; ++i) run_what_waits_behind_a_loop(watched);
        EXPECT_FALSE(ran);
        release = true;
        other.join();
        EXPECT_TRUE(ran);
        EXPECT_EQ(unwatched.metrics().spares_activated, 0u);
    }
}

// One fiber calls `operation` until another one, which waits for the only worker, has run. No spare
// worker is allowed; `max_workers` keeps the watchdog.
void expect_turn(const std::function<void()>& operation) {
    sennit::runtime runtime({.workers = 1, .max_spare_workers = 0, .max_workers = 2});
    runtime.run([&] {
        bool ended = false; // one worker runs both fibers
        sennit::fiber first([&] {
            sennit::fiber second([&] { ended = true; });
            while (!ended) operation();
            second.join();
        });
        first.join();
    });
    EXPECT_EQ(runtime.metrics().spares_activated, 0u);
}

TEST(watchdog, fiber_that_takes_free_mutexes_lets_ready_fibers_run) {
    sennit::mutex mutex;
    expect_turn([&] { std::lock_guard guard(mutex); });
    sennit::recursive_mutex recursive;
    expect_turn([&] { std::lock_guard guard(recursive); });
    sennit::timed_mutex timed;
    expect_turn([&] {
        ASSERT_TRUE(timed.try_lock_for(1h));
        timed.unlock();
    });
    sennit::shared_mutex shared;
    expect_turn([&] { std::lock_guard guard(shared); });
    expect_turn([&] { std::shared_lock guard(shared); });
}

TEST(watchdog, fiber_that_never_waits_for_channel_or_semaphore_lets_ready_fibers_run) {
    sennit::counting_semaphore<> semaphore(1);
    expect_turn([&] {
        semaphore.acquire();
        semaphore.release();
    });
    sennit::channel<int> channel(2);
    expect_turn([&] {
        channel.push(1);
        channel.push(2);
        EXPECT_EQ(channel.pop(), 1);
        EXPECT_EQ(channel.pop(), 2);
    });
}

TEST(watchdog, environment_sets_number_of_spare_workers) {
    ::setenv("SENNIT_WATCHDOG", "off", 1);
    {
        sennit::runtime runtime({.workers = 1, .max_spare_workers = 2});
        EXPECT_EQ(runtime.core().worker_capacity(), 1u);
    }
    ::setenv("SENNIT_WATCHDOG", "3", 1);
    {
        sennit::runtime runtime({.workers = 1});
        EXPECT_EQ(runtime.core().worker_capacity(), 4u);
    }
    ::unsetenv("SENNIT_WATCHDOG");
}

// Three fibers wait for each other, and only two threads run them. The report ends their wait.
TEST(watchdog_death_test, report_names_stuck_workers_when_no_spare_is_left) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(
        {
            int ends[2];
            const int terminal = ::dup(2);
            if (::pipe(ends) != 0 || terminal < 0 || ::dup2(ends[1], 2) < 0) std::exit(1);
            std::atomic<bool> told{false};
            std::string text;
            std::thread reader([&] {
                char piece[512];
                while (text.find("of its own.\n") == std::string::npos) {
                    const ssize_t length = ::read(ends[0], piece, sizeof piece);
                    if (length <= 0) break;
                    text.append(piece, static_cast<std::size_t>(length));
                }
                told = true;
            });
            sennit::runtime runtime({.workers = 1, .max_spare_workers = 1, .name = "few"});
            runtime.run([&] {
                std::atomic<int> begun{0};
                std::vector<sennit::fiber> all;
                for (const char* name : {"first", "second", "third"})
                    all.emplace_back(sennit::fiber_attributes{.name = name}, [&] {
                        ++begun;
                        while (begun.load() != 3 && !told.load()) {
                        }
                    });
                join_all(all);
            });
            reader.join();
            (void)!::write(terminal, text.data(), text.size());
            std::exit(told ? 0 : 1);
        },
        testing::ExitedWithCode(0),
        "^sennit: \\[SNT-031\\] work is ready in runtime 'few', but each of its workers runs a "
        "task that loops or "
        "blocks its "
        "thread, and no worker has made progress for a second\n"
        "worker 0: fiber [0-9]+ '(first|second|third)' at .*\n"
        "worker 1: fiber [0-9]+ '(first|second|third)' at .*\n"
        "Ready: 1 fibers, 0 other tasks. The watchdog has added all threads that it may add, 1: ");
}

TEST(watchdog, child_of_fork_gets_new_watchdog) {
#ifdef SENNIT_EMULATED
    GTEST_SKIP() << "under the emulator the child ends with status 127";
#endif
#ifdef SENNIT_THREAD_SANITIZER
    GTEST_SKIP() << "ThreadSanitizer allows no new threads in a child of fork()";
#endif
    const auto works = [] {
        sennit::runtime runtime({.workers = 1});
        run_what_waits_behind_a_loop(runtime);
        return runtime.metrics().spares_activated != 0 ? 0 : 1;
    };
    EXPECT_EQ(works(), 0);
    // No thread of the library is left while no runtime needs it.
    EXPECT_EQ(status_of_child(works), 0);
    EXPECT_EQ(works(), 0);
}

} // namespace
