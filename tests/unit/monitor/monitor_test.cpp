// SPDX-License-Identifier: Apache-2.0
// Monitors: entry, exit, conditions.
#include "../../support/alone.hpp"
#include "crew.hpp"

#include <sennit/monitor.hpp>
#include <sennit/monitored.hpp>
#include <sennit/nursery.hpp>
#include <sennit/with_timeout.hpp>

#include <array>
#include <deque>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

class monitor : public on_workers {};
SENNIT_ON_WORKERS(monitor);

struct counter : sennit::monitor {
    long value = 0;
    void outer() {
        auto in = sennit::enter(*this);
        middle();
    }
    void middle() {
        auto in = sennit::enter(*this);
        inner();
    }
    void inner() {
        auto in = sennit::enter(*this);
        const long before = value;
        if (before % 64 == 0) sennit::this_fiber::yield(); // inside the monitor
        value = before + 1;
    }
};

TEST_P(monitor, monitor_admits_one_strand_at_a_time_and_that_strand_again) {
    counter one;
    crew(runtime, 6, [&](std::size_t) {
        for (int i = 0; i < 500; ++i) one.outer();
    });
    EXPECT_EQ(one.value, 6 * 500);
}

TEST_P(monitor, enter_takes_several_monitors_in_any_order_of_arguments) {
    std::array<counter, 4> all;
    crew(runtime, 6, [&](std::size_t i) {
        for (std::size_t k = 0; k < 400; ++k) {
            // Some of the three may be one monitor.
            auto &a = all[(i + k) % 4], &b = all[(i + 3 * k + 1) % 4], &c = all[(i * k) % 4];
            auto in = sennit::enter(a, b, c);
            ++a.value;
            ++b.value;
            ++c.value;
        }
    });
    EXPECT_EQ(all[0].value + all[1].value + all[2].value + all[3].value, 3 * 6 * 400);
}

TEST_P(monitor, entry_of_four_monitors_excludes_entry_of_each) {
    std::array<counter, 4> all;
    crew(runtime, 5, [&](std::size_t i) {
        for (int k = 0; k < 300; ++k) {
            if (i == 4) {
                auto in = sennit::enter(all[3], all[1], all[0], all[2]);
                for (auto& each : all) ++each.value;
            } else {
                all[i].inner();
            }
        }
    });
    for (auto& each : all) EXPECT_EQ(each.value, 2 * 300);
}

// A worker in exclusive mode enters and leaves several monitors by plain stores. Some are free,
// some are named twice, some are already its own, and for some another fiber has them or waits.
TEST(monitor_alone, lone_worker_enters_leaves_and_hands_over_several_monitors) {
    if (!elision_is_on()) GTEST_SKIP();
    counter a, b, c;
    sennit::runtime one({.workers = 1});
    one.run([&] {
        while (!exclusive_now()) sennit::this_fiber::yield();
        {
            auto twice = sennit::enter(b, a, b);
            auto again = sennit::enter(c, a); // the strand has `a` already, but not `c`
            ++a.value;
        }
        std::vector<int> order;
        const auto comes = [&](int number, auto&... of) {
            return sennit::fiber([&, number] {
                auto in = sennit::enter(of...);
                order.push_back(number);
                ++c.value;
            });
        };
        std::vector<sennit::fiber> all;
        {
            auto in = sennit::enter(c, b);
            all.push_back(comes(1, a, b));    // has `a`, waits for `b`
            all.push_back(comes(2, b, c));    // waits for `b` or `c`
            all.push_back(comes(3, a, b, c)); // waits behind fiber 1
            all.push_back(comes(4, c));
            let_others_run();
            EXPECT_TRUE(order.empty());
        }
        for (auto& each : all) each.join();
        EXPECT_EQ(order.size(), 4u);
        auto last = sennit::enter(a, b, c); // all are free again
        EXPECT_EQ(c.value, 4);
    });
}

// Counts the entries into the monitor, so that a waiter can tell whether another strand entered
// between the signal and its return.
struct gate : sennit::monitor {
    sennit::condition turn{*this};
    long signalled = 0, seen = 0, entries = 0, at_signal = -1, overtaken = 0;
    bool over = false;
    void wait() {
        auto in = sennit::enter(*this);
        turn.wait();
        if (over) return;
        overtaken += at_signal != entries; // a strand has entered since the signal
        ++seen;
    }
    void come() { // enters without a wait or a signal
        auto in = sennit::enter(*this);
        ++entries;
    }
    bool signal() {
        auto in = sennit::enter(*this);
        ++entries;
        if (!turn.signal()) return false;
        at_signal = entries;
        ++signalled;
        return true;
    }
};

TEST_P(monitor, no_strand_comes_between_signal_and_its_waiter) {
    gate one;
    constexpr long rounds = 300;
    std::atomic<int> waiters{3};
    crew(runtime, 8, [&](std::size_t i) {
        if (i < 3) {
            for (long k = 0; k < rounds; ++k) one.wait();
            --waiters;
        } else if (i == 3) {
            while (waiters > 0)
                if (!one.signal()) sennit::this_fiber::yield();
        } else {
            while (waiters > 0) {
                one.come();
                sennit::this_fiber::yield();
            }
        }
    });
    EXPECT_EQ(one.overtaken, 0);
    EXPECT_EQ(one.seen, 3 * rounds);
    EXPECT_EQ(one.signalled, 3 * rounds);
}

TEST_P(monitor, monitor_is_handed_over_in_order_of_arrival) {
    counter one;
    std::vector<int> order;
    runtime.run([&] {
        std::vector<sennit::fiber> all;
        {
            auto in = sennit::enter(one);
            for (int i = 0; i < 5; ++i) {
                std::atomic<bool> about{false};
                all.emplace_back([&, i] {
                    about = true;
                    auto mine = sennit::enter(one);
                    order.push_back(i);
                });
                yield_until(about);
                let_others_run();
            }
        }
        // A strand that comes now is behind the five, even if it is quick.
        auto late = sennit::enter(one);
        order.push_back(5);
    });
    if (runtime.workers() == 1) {
        EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4, 5}));
    }
    // With several workers some fibers may still have been on their way.
    EXPECT_EQ(order.size(), 6u);
}

struct buffer : sennit::monitor {
    static constexpr std::size_t most = 5;
    sennit::condition not_full{*this}, not_empty{*this};
    std::deque<int> values;
    void put(int value) {
        auto in = sennit::enter(*this);
        // `if` suffices: see no_strand_comes_between_signal_and_its_waiter.
        if (values.size() == most) not_full.wait();
        EXPECT_LT(values.size(), most);
        values.push_back(value);
        not_empty.signal();
    }
    int take() {
        auto in = sennit::enter(*this);
        if (values.empty()) not_empty.wait();
        EXPECT_FALSE(values.empty());
        const int value = values.front();
        values.pop_front();
        not_full.signal();
        return value;
    }
};

TEST_P(monitor, bounded_buffer_needs_no_loops_around_its_waits) {
    expect_bounded_buffer<buffer>(runtime);
}

struct library : sennit::monitor {
    sennit::condition queue{*this};
    int readers = 0;
    bool writing = false;
    void start_read() {
        auto in = sennit::enter(*this);
        if (writing || !queue.empty()) queue.wait(1); // behind waiting writers
        ++readers;
        if (!queue.empty() && queue.front() == 1) queue.signal(); // the next reader enters, too
    }
    void end_read() {
        auto in = sennit::enter(*this);
        if (--readers == 0) queue.signal();
    }
    void start_write() {
        auto in = sennit::enter(*this);
        if (writing || readers > 0 || !queue.empty()) queue.wait(2);
        writing = true;
    }
    void end_write() {
        auto in = sennit::enter(*this);
        writing = false;
        queue.signal();
    }
};

TEST_P(monitor, first_waiters_value_schedules_readers_and_writers) {
    library books;
    std::atomic<int> reading{0}, writing{0};
    crew(runtime, 8, [&](std::size_t i) {
        for (int k = 0; k < 200; ++k) {
            if (i < 6) {
                books.start_read();
                ++reading;
                EXPECT_EQ(writing, 0);
                if (k % 8 == 0) sennit::this_fiber::yield();
                --reading;
                books.end_read();
            } else {
                books.start_write();
                EXPECT_EQ(++writing, 1);
                EXPECT_EQ(reading, 0);
                if (k % 8 == 0) sennit::this_fiber::yield();
                --writing;
                books.end_write();
            }
        }
    });
}

// The second caller of a pair answers the first caller directly.
struct dating : sennit::monitor {
    sennit::condition girls{*this}, boys{*this};
    int girl = 0, boy = 0;
    int girl_calls(int me) {
        auto in = sennit::enter(*this);
        if (boys.empty()) {
            girls.wait(static_cast<std::uintptr_t>(me));
            return boy;
        }
        const int partner = static_cast<int>(boys.front());
        girl = me;
        boys.signal_block();
        return partner;
    }
    int boy_calls(int me) {
        auto in = sennit::enter(*this);
        if (girls.empty()) {
            boys.wait(static_cast<std::uintptr_t>(me));
            return girl;
        }
        const int partner = static_cast<int>(girls.front());
        boy = me;
        girls.signal_block();
        return partner;
    }
};

TEST_P(monitor, dating_service_pairs_callers_by_signal_block) {
    dating service;
    std::array<int, 40> partner{};
    crew(runtime, 40, [&](std::size_t i) {
        const int me = static_cast<int>(i) + 1;
        partner[i] = i % 2 == 0 ? service.girl_calls(me) : service.boy_calls(me);
    });
    for (std::size_t i = 0; i < 40; ++i) {
        ASSERT_GT(partner[i], 0);
        EXPECT_EQ(partner[static_cast<std::size_t>(partner[i]) - 1], static_cast<int>(i) + 1);
    }
}

// A wait leaves exactly the monitors of its condition, and has them all again when it returns. A
// signal may hand them over one by one.
TEST_P(monitor, wait_over_two_monitors_gets_both_back) {
    counter lock, data;
    sennit::condition both{lock, data};
    crew(runtime, 2, [&](std::size_t i) {
        if (i == 0) {
            auto in = sennit::enter(data, lock);
            both.wait();
            EXPECT_EQ(data.value, 7);
            data.value = 8;
            lock.value = 1;
            return;
        }
        yield_until([&] {
            auto in = sennit::enter(lock, data);
            return !both.empty();
        });
        auto outer = sennit::enter(lock);
        {
            auto in = sennit::enter(lock, data); // enters `lock` again, and `data`
            data.value = 7;
            EXPECT_TRUE(both.signal());
        }
        let_others_run();
        EXPECT_EQ(lock.value, 0); // the waiter has `data` now, but not `lock`
    });
    EXPECT_EQ(data.value, 8);
    EXPECT_EQ(lock.value, 1);
}

TEST_P(monitor, overlapping_conditions_over_three_monitors_lose_no_signal) {
    counter a, b, c;
    sennit::condition ab{a, b}, bc{b, c}, ac{a, c}, abc{a, b, c};
    std::atomic<int> running{4};
    constexpr int rounds = 150;
    const auto wait_on = [&](sennit::condition& on, auto&... of) {
        for (int k = 0; k < rounds; ++k) {
            auto in = sennit::enter(of...);
            on.wait();
        }
        --running;
    };
    crew(runtime, 5, [&](std::size_t i) {
        if (i == 0) wait_on(ab, a, b);
        if (i == 1) wait_on(bc, c, b);
        if (i == 2) wait_on(ac, c, a);
        if (i == 3) wait_on(abc, b, a, c);
        for (unsigned k = 0; i == 4 && running > 0; ++k) {
            if (k % 4 == 0) {
                auto in = sennit::enter(a, b);
                ab.signal();
            } else if (k % 4 == 1) {
                auto in = sennit::enter(b, c);
                bc.signal();
            } else if (k % 4 == 2) {
                auto in = sennit::enter(a, c);
                ac.signal();
            } else {
                auto in = sennit::enter(a, b, c);
                abc.signal();
            }
            sennit::this_fiber::yield();
        }
    });
    EXPECT_EQ(running, 0);
}

TEST_P(monitor, signal_all_resumes_waiters_in_order_of_arrival) {
    counter one;
    sennit::condition all{one};
    std::vector<int> order;
    runtime.run([&] {
        std::vector<sennit::fiber> waiters;
        for (int i = 0; i < 4; ++i) {
            bool there = false; // guarded by the monitor
            waiters.emplace_back([&, i] {
                auto in = sennit::enter(one);
                there = true;
                all.wait();
                order.push_back(i);
            });
            yield_until([&] {
                auto in = sennit::enter(one);
                return there;
            });
        }
        {
            auto in = sennit::enter(one);
            all.signal_all();
            EXPECT_TRUE(all.empty());
        }
        for (auto& each : waiters) each.join();
    });
    EXPECT_EQ(order, (std::vector{0, 1, 2, 3}));
}

TEST_P(monitor, wait_ends_at_its_deadline_inside_the_monitor) {
    counter one;
    sennit::condition never{one};
    runtime.run([&] {
        auto in = sennit::enter(one);
        EXPECT_FALSE(never.wait_for(std::chrono::microseconds(100)));
        EXPECT_TRUE(never.empty());
    });
}

// The signal may come at the deadline. One of the two ends the wait, and the waiter has the monitor
// in either case.
TEST_P(monitor, one_of_signal_and_deadline_ends_the_wait) {
    counter one;
    sennit::condition maybe{one};
    long signalled = 0, woken = 0; // guarded by the monitor
    bool over = false;
    crew(runtime, 2, [&](std::size_t i) {
        if (i == 0) {
            for (int k = 0; k < 200; ++k) {
                auto in = sennit::enter(one);
                woken += maybe.wait_for(std::chrono::nanoseconds(k * 997 % 30'000));
                one.value += 1;
            }
            auto in = sennit::enter(one);
            over = true;
        }
        while (i == 1) {
            sennit::this_fiber::yield();
            auto in = sennit::enter(one);
            if (over) break;
            signalled += maybe.signal();
        }
    });
    EXPECT_EQ(signalled, woken);
    EXPECT_EQ(one.value, 200);
}

TEST_P(monitor, cancelled_wait_throws_inside_the_monitor) {
    counter one;
    sennit::condition never{one};
    runtime.run([&] {
        EXPECT_THROW(sennit::with_timeout(std::chrono::milliseconds(1),
                                          [&] {
                                              auto in = sennit::enter(one);
                                              never.wait();
                                          }),
                     sennit::timed_out);
        sennit::nursery family;
        family.start([&] {
            auto in = sennit::enter(one);
            ++one.value;
            never.wait();
        });
        yield_until([&] {
            auto in = sennit::enter(one);
            return !never.empty();
        });
        family.cancel();
        family.join();
        auto in = sennit::enter(one); // the monitor is free
        EXPECT_TRUE(never.empty());
    });
}

TEST_P(monitor, exception_leaves_the_monitor) {
    counter one;
    runtime.run([&] {
        EXPECT_THROW(
            {
                auto in = sennit::enter(one);
                throw std::runtime_error("x");
            },
            std::runtime_error);
        sennit::fiber([&] { one.inner(); }).join();
    });
    EXPECT_EQ(one.value, 1);
}

TEST_P(monitor, monitored_wraps_any_object) {
    sennit::monitored<std::vector<int>> values(2u, 7);
    crew(runtime, 4, [&](std::size_t i) {
        for (int k = 0; k < 100; ++k) values->push_back(static_cast<int>(i));
    });
    EXPECT_EQ(values.with([](std::vector<int>& all) { return all.size(); }), 402u);
}

class monitor_death_test : public testing::Test {
protected:
    void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

TEST_F(monitor_death_test, misuse_ends_the_program_with_a_message) {
    EXPECT_DEATH(
        {
            counter one;
            sennit::condition c{one};
            c.wait();
        },
        "sennit: \\[SNT-402\\] condition::wait was called outside");
    EXPECT_DEATH(
        {
            counter two[2];
            auto& one = two[0];
            sennit::condition c(one, two[1]);
            auto in = sennit::enter(one);
            c.signal();
        },
        "sennit: \\[SNT-403\\] a condition was signalled outside of its monitors");
    EXPECT_DEATH(
        {
            auto one = std::make_unique<counter>();
            auto in = sennit::enter(*one);
            one.reset();
        },
        "sennit: \\[SNT-406\\] a monitor was destroyed while a fiber or thread is inside");
    EXPECT_DEATH(
        {
            counter one;
            (void)sennit::waitfor(sennit::accept<&counter::inner>(one));
        },
        "sennit: \\[SNT-408\\] waitfor names a monitor that the caller has not entered");
    EXPECT_DEATH(
        {
            counter one;
            auto c = std::make_unique<sennit::condition>(one);
            auto in = sennit::enter(one);
            (void)c->front();
        },
        "sennit: \\[SNT-405\\] condition::front was called on a condition without waiters");
}

} // namespace
