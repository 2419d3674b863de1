// SPDX-License-Identifier: Apache-2.0
// Tests condition_variable and condition_variable_any.
#include "strands.hpp"

#include <sennit/condition_variable.hpp>
#include <sennit/event.hpp>
#include <sennit/shared_mutex.hpp>

#include <mutex>
#include <shared_mutex>

namespace {

class condition_variable : public strands {};
SENNIT_BY_STRANDS(condition_variable);
class condition_variable_on : public on_workers {};
SENNIT_ON_WORKERS(condition_variable_on);

TEST_P(condition_variable, two_alternating_strands_lose_no_wake_up) {
    sennit::mutex mutex;
    sennit::condition_variable changed;
    int turn = 0; // Guarded by `mutex`.
    together(2, [&](std::size_t me) {
        for (int k = 0; k < race_rounds / 4; ++k) {
            std::unique_lock lock(mutex);
            changed.wait(lock, [&] { return turn % 2 == static_cast<int>(me); });
            ++turn;
            if (k % 2 == 0) lock.unlock(); // Notifies with and without the lock.
            changed.notify_one();
        }
    });
    EXPECT_EQ(turn, race_rounds / 4 * 2);
}

// The waits have no condition, so each notification must wake exactly one waiter. No waiter may
// wake without a notification.
TEST_P(condition_variable, notification_wakes_exactly_one_waiter) {
    constexpr int count = 6;
    sennit::mutex mutex;
    sennit::condition_variable_any changed, round_over;
    int waiting = 0, woken = 0, over = 0; // Guarded by `mutex`.
    const auto locked = [&](auto&& holds) {
        std::lock_guard lock(mutex);
        return holds();
    };
    together(count + 1, [&](std::size_t i) {
        for (int round = 0; round < 5; ++round) {
            if (i < count) {
                std::unique_lock lock(mutex);
                ++waiting;
                changed.wait(lock);
                EXPECT_TRUE(lock.owns_lock());
                ++woken;
                round_over.wait(lock, [&] { return over > round; });
                continue;
            }
            yield_until([&] { return locked([&] { return waiting == count; }); });
            for (int notified = 1; notified <= 2; ++notified) {
                changed.notify_one();
                yield_until([&] { return locked([&] { return woken >= notified; }); });
                let_others_run();
                EXPECT_TRUE(locked([&] { return woken == notified; }));
            }
            changed.notify_all();
            yield_until([&] { return locked([&] { return woken == count; }); });
            std::lock_guard lock(mutex);
            waiting = woken = 0;
            over = round + 1;
            round_over.notify_all();
        }
    });
}

TEST_P(condition_variable, notify_all_wakes_all_waiters_in_every_round) {
    constexpr std::size_t count = 6;
    sennit::mutex mutex;
    sennit::condition_variable changed;
    std::size_t arrived = 0;
    int phase = 0; // `mutex` guards both.
    together(count, [&](std::size_t) {
        for (int round = 0; round < 300; ++round) {
            std::unique_lock lock(mutex);
            EXPECT_EQ(phase, round);
            if (++arrived == count) {
                arrived = 0;
                ++phase;
                changed.notify_all();
            } else {
                changed.wait(lock, [&] { return phase != round; });
            }
        }
    });
    EXPECT_EQ(phase, 300);
}

TEST_P(condition_variable_on, timed_wait_distinguishes_deadline_from_notification) {
    const auto body = [this] {
        sennit::mutex mutex;
        sennit::condition_variable changed;
        std::unique_lock lock(mutex);
        const auto began = std::chrono::steady_clock::now();
        EXPECT_EQ(changed.wait_for(lock, 2ms), sennit::cv_status::timeout);
        EXPECT_GE(std::chrono::steady_clock::now() - began, 2ms);
        EXPECT_EQ(changed.wait_for(lock, -1h), sennit::cv_status::timeout);
        EXPECT_EQ(changed.wait_until(lock, std::chrono::system_clock::now() + 1ms),
                  sennit::cv_status::timeout);
        EXPECT_TRUE(lock.owns_lock());
        int asked = 0;
        EXPECT_FALSE(changed.wait_for(lock, 1ms, [&] { return ++asked, false; }));
        EXPECT_GE(asked, 2) << "the condition is checked before and after the wait";
        EXPECT_TRUE(changed.wait_for(lock, 0s, [] { return true; }));
        EXPECT_FALSE(
            changed.wait_until(lock, std::chrono::system_clock::now(), [] { return false; }));
        bool set = false;
        const auto set_it = [&] {
            std::lock_guard own(mutex);
            set = true;
            changed.notify_one();
        };
        sennit::fiber one({.runtime = &runtime}, set_it);
        EXPECT_EQ(changed.wait_for(lock, std::chrono::hours::max()), sennit::cv_status::no_timeout);
        EXPECT_TRUE(set);
        set = false;
        sennit::fiber two({.runtime = &runtime}, set_it);
        EXPECT_TRUE(
            changed.wait_until(lock, std::chrono::steady_clock::now() + 1h, [&] { return set; }));
        one.join();
        two.join();
    };
    body();
    runtime.run(body);
}

TEST_P(condition_variable_on, wait_works_with_every_kind_of_lock) {
    const auto with = [this](auto& mutex, auto lock) {
        sennit::condition_variable_any changed;
        bool set = false;
        sennit::fiber other({.runtime = &runtime}, [&] {
            std::lock_guard own(mutex);
            set = true;
            changed.notify_all();
        });
        changed.wait(lock, [&] { return set; });
        EXPECT_TRUE(lock.owns_lock());
        EXPECT_FALSE(changed.wait_for(lock, 1us, [] { return false; }));
        lock.unlock();
        other.join();
    };
    const auto body = [&] {
        sennit::mutex a;
        with(a, std::unique_lock(a));
        sennit::shared_mutex b;
        with(b, std::unique_lock(b));
        with(b, std::shared_lock(b));
        sennit::recursive_mutex c;
        with(c, std::unique_lock(c));
    };
    body();
    runtime.run(body);
}

TEST_P(condition_variable_on, wait_refuses_lock_that_is_not_held) {
    sennit::mutex mutex;
    sennit::condition_variable changed;
    std::unique_lock lock(mutex, std::defer_lock);
    expect_error(std::errc::operation_not_permitted, [&] { changed.wait(lock); });
    expect_error(std::errc::operation_not_permitted, [&] { (void)changed.wait_for(lock, 1h); });
    sennit::condition_variable_any any;
    expect_error(std::errc::operation_not_permitted, [&] { any.wait(lock); });
    lock.lock();
    EXPECT_EQ(any.wait_for(lock, 1us), sennit::cv_status::timeout);
}

TEST_P(condition_variable_on, stop_request_ends_wait) {
    const auto body = [this] {
        sennit::mutex mutex;
        sennit::condition_variable_any changed;
        std::unique_lock lock(mutex);
        const auto never = [] { return false; };
        for (int form = 0; form < 3; ++form) {
            std::stop_source source;
            sennit::fiber other({.runtime = &runtime}, [&] { source.request_stop(); });
            const std::stop_token stop = source.get_token();
            EXPECT_FALSE(
                form == 0 ? changed.wait(lock, stop, never)
                : form == 1
                    ? changed.wait_for(lock, stop, 1h, never)
                    : changed.wait_until(lock, stop, std::chrono::system_clock::now() + 1h, never));
            EXPECT_TRUE(lock.owns_lock());
            other.join();
            EXPECT_FALSE(changed.wait(lock, stop, never))
                << "the stop was requested before the wait";
            EXPECT_TRUE(changed.wait(lock, stop, [] { return true; }));
        }
        std::stop_source source;
        EXPECT_FALSE(changed.wait_for(lock, source.get_token(), 1ms, never));
        EXPECT_FALSE(changed.wait_until(lock, std::stop_token(),
                                        std::chrono::steady_clock::now() + 1ms, never));
        bool true_by_then = false; // The last answer of the condition counts.
        std::stop_callback set(source.get_token(), [&] { true_by_then = true; });
        sennit::fiber other({.runtime = &runtime}, [&] {
            std::lock_guard own(mutex);
            source.request_stop();
        });
        EXPECT_TRUE(changed.wait(lock, source.get_token(), [&] { return true_by_then; }));
        lock.unlock();
        other.join();
    };
    body();
    runtime.run(body);
}

// Two waiters compete for one item, and a stop request ends the wait of one of them. In every
// round, exactly one of them gets the item.
TEST_P(condition_variable_on, stopped_waiter_loses_no_notification) {
    runtime.run([] {
        sennit::mutex mutex;
        sennit::condition_variable_any changed;
        for (int i = 0; i < race_rounds / 2; ++i) {
            int items = 0; // Guarded by `mutex`.
            bool ended = false;
            std::stop_source source;
            const auto take = [&](std::stop_token stop) {
                std::unique_lock lock(mutex);
                const bool got =
                    changed.wait(lock, stop, [&] { return items > 0 || ended; }) && items > 0;
                items -= got;
                return got;
            };
            sennit::fiber stopped([&] { return take(source.get_token()); });
            sennit::fiber patient([&] { return take(std::stop_token()); });
            sennit::fiber stopper([&] { source.request_stop(); });
            if (i % 2 == 0) sennit::this_fiber::yield();
            {
                std::lock_guard lock(mutex);
                items = 1;
            }
            changed.notify_one();
            const bool first = stopped.join<bool>();
            if (first) {
                std::lock_guard lock(mutex);
                ended = true;
                changed.notify_all();
            }
            ASSERT_NE(patient.join<bool>(), first) << "round " << i;
        }
    });
}

TEST_P(condition_variable, race_against_deadlines_loses_no_signal) {
    sennit::mutex mutex;
    sennit::condition_variable changed;
    constexpr int rounds = race_rounds / 4;
    int items = 0, taken = 0, late = 0; // Guarded by `mutex`.
    together(4, [&](std::size_t i) {
        for (int k = 0; k < rounds; ++k) {
            if (i % 2 == 0) {
                std::unique_lock lock(mutex);
                ++items;
                lock.unlock();
                changed.notify_one();
                if (k % 8 == 0) sennit::this_fiber::yield();
            } else {
                std::unique_lock lock(mutex);
                const bool got = changed.wait_for(lock, soon(k), [&] { return items > 0; });
                items -= got;
                taken += got;
                late += !got;
            }
        }
    });
    EXPECT_EQ(taken + late, 2 * rounds);
    EXPECT_EQ(items + taken, 2 * rounds);
}

TEST_P(condition_variable, condition_variable_is_destroyed_once_all_waiters_are_notified) {
    constexpr std::size_t count = 4;
    for (int round = 0; round < race_rounds / 50; ++round) {
        sennit::mutex mutex;
        auto changed = std::make_unique<sennit::condition_variable>();
        std::size_t waiting = 0; // Guarded by `mutex`.
        together(count, [&](std::size_t i) {
            if (i + 1 < count) {
                std::unique_lock lock(mutex);
                ++waiting;
                changed->wait(lock);
                return;
            }
            for (;; sennit::this_fiber::yield()) {
                std::lock_guard lock(mutex);
                if (waiting + 1 < count) continue;
                changed->notify_all();
                changed.reset();
                return;
            }
        });
    }
}

TEST_F(sync_death_test, destruction_of_condition_variable_with_waiter_ends_program) {
    EXPECT_DEATH(destroy_under_a_waiter(new sennit::condition_variable,
                                        [](auto& it) {
                                            sennit::mutex mutex;
                                            std::unique_lock lock(mutex);
                                            it.wait(lock);
                                        }),
                 "sennit: \\[SNT-209\\] a condition variable was destroyed while a fiber or thread "
                 "waits for it");
}

} // namespace
