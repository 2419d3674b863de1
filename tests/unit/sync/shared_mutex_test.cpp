// SPDX-License-Identifier: Apache-2.0
// Tests shared_mutex and shared_timed_mutex.
#include "strands.hpp"

#include <sennit/barrier.hpp>
#include <sennit/event.hpp>
#include <sennit/shared_mutex.hpp>

#include <mutex>
#include <shared_mutex>

namespace {

class shared_mutex : public strands {};
SENNIT_BY_STRANDS(shared_mutex);
class shared_mutex_on : public on_workers {};
SENNIT_ON_WORKERS(shared_mutex_on);

TEST_P(shared_mutex, shared_mutex_admits_all_readers_at_once) {
    constexpr std::size_t count = 8;
    sennit::shared_mutex guard;
    sennit::barrier<> all_inside(count);
    together(count, [&](std::size_t) {
        for (int round = 0; round < 20; ++round) {
            std::shared_lock own(guard);
            all_inside.arrive_and_wait(); // No reader leaves before all are inside.
        }
    });
    EXPECT_TRUE(guard.try_lock());
    guard.unlock();
}

TEST_P(shared_mutex, writer_excludes_readers_and_writers) {
    sennit::shared_timed_mutex guard;
    std::atomic<int> readers{0}, writers{0}, late{0};
    long a = 0, b = 0; // Guarded by `guard`.
    together(8, [&](std::size_t i) {
        for (int k = 0; k < 400; ++k) {
            if (i % 4 == 0) {
                const bool got = k % 2 == 0 ? (guard.lock(), true) : guard.try_lock_for(soon(k));
                if (!got) {
                    ++late;
                    continue;
                }
                EXPECT_EQ(++writers, 1);
                EXPECT_EQ(readers, 0);
                ++a;
                if (k % 20 == 0) sennit::this_fiber::yield();
                ++b;
                --writers;
                guard.unlock();
            } else {
                const bool got =
                    k % 2 == 0 ? (guard.lock_shared(), true) : guard.try_lock_shared_for(soon(k));
                if (!got) {
                    ++late;
                    continue;
                }
                ++readers;
                EXPECT_EQ(writers, 0);
                EXPECT_EQ(a, b);
                if (k % 20 == 0) sennit::this_fiber::yield();
                --readers;
                guard.unlock_shared();
            }
        }
    });
    EXPECT_LE(a + late, 8 * 400);
    EXPECT_GE(a, 2 * 200);
    EXPECT_TRUE(guard.try_lock()) << "no lock is left behind";
    guard.unlock();
}

TEST_P(shared_mutex_on, relock_by_writer_and_unlock_without_lock_are_refused) {
    const auto body = [] {
        sennit::shared_timed_mutex guard;
        expect_error(std::errc::operation_not_permitted, [&] { guard.unlock_shared(); });
        guard.lock();
        expect_error(std::errc::resource_deadlock_would_occur, [&] { guard.lock(); });
        expect_error(std::errc::resource_deadlock_would_occur, [&] { guard.lock_shared(); });
        expect_error(std::errc::resource_deadlock_would_occur,
                     [&] { (void)guard.try_lock_for(1h); });
        expect_error(std::errc::resource_deadlock_would_occur,
                     [&] { (void)guard.try_lock_shared_for(1h); });
        EXPECT_FALSE(guard.try_lock());
        EXPECT_FALSE(guard.try_lock_shared());
        expect_error(std::errc::operation_not_permitted, [&] { guard.unlock_shared(); });
        guard.unlock();
        guard.lock_shared();
        EXPECT_FALSE(guard.try_lock());
        expect_error(std::errc::operation_not_permitted, [&] { guard.unlock(); });
        EXPECT_TRUE(guard.try_lock_shared());
        guard.unlock_shared();
        guard.unlock_shared();
        expect_error(std::errc::operation_not_permitted, [&] { guard.unlock_shared(); });
        EXPECT_TRUE(guard.try_lock_for(0s));
        guard.unlock();
    };
    body();
    runtime.run(body);
}

// Returns true if a reader would have to wait. This is so once a writer waits.
bool would_wait(sennit::shared_mutex& guard) {
    if (!guard.try_lock_shared()) return true;
    guard.unlock_shared();
    return false;
}

TEST_P(shared_mutex_on, writer_is_served_before_later_readers) {
    runtime.run([] {
        sennit::shared_mutex guard;
        std::string order; // Guarded by `guard`.
        guard.lock_shared();
        sennit::fiber writer([&] {
            std::lock_guard own(guard);
            order += 'w';
        });
        yield_until([&] { return would_wait(guard); });
        std::vector<sennit::fiber> readers;
        std::mutex text;
        for (int i = 0; i < 3; ++i)
            readers.emplace_back([&] {
                std::shared_lock own(guard);
                std::lock_guard hold(text);
                order += 'r';
            });
        let_others_run();
        EXPECT_EQ(order, "");
        guard.unlock_shared();
        writer.join();
        readers.clear();
        EXPECT_EQ(order, "wrrr");
    });
}

TEST_P(shared_mutex_on, stream_of_readers_does_not_lock_out_writer) {
    runtime.run([] {
        sennit::shared_mutex guard;
        std::atomic<bool> written{false};
        std::vector<sennit::fiber> readers;
        for (int i = 0; i < 4; ++i)
            readers.emplace_back([&] {
                while (!written) {
                    std::shared_lock own(guard);
                    sennit::this_fiber::yield(); // Other readers are inside at any time.
                }
            });
        let_others_run();
        guard.lock();
        written = true;
        guard.unlock();
        readers.clear();
        EXPECT_TRUE(guard.try_lock());
        guard.unlock();
    });
}

TEST_P(shared_mutex_on, readers_enter_when_earlier_writer_gives_up) {
    const auto body = [this] {
        sennit::shared_timed_mutex guard;
        sennit::event gave_up;
        guard.lock_shared();
        sennit::fiber writer({.runtime = &runtime}, [&] {
            EXPECT_FALSE(guard.try_lock_for(5ms));
            gave_up.set();
        });
        sennit::fiber reader({.runtime = &runtime}, [&] {
            yield_until([&] { return would_wait(guard) || gave_up.try_wait(); });
            guard.lock_shared(); // The first reader is still inside.
            guard.unlock_shared();
        });
        reader.join();
        writer.join();
        guard.unlock_shared();
        EXPECT_TRUE(guard.try_lock());
        guard.unlock();
    };
    body();
    runtime.run(body);
}

TEST_P(shared_mutex_on, timed_locks_end_at_deadline_in_both_modes) {
    const auto body = [this] {
        sennit::shared_timed_mutex guard;
        guard.lock();
        const auto other = [&] {
            EXPECT_FALSE(guard.try_lock_shared_for(1ms));
            EXPECT_FALSE(guard.try_lock_shared_until(std::chrono::steady_clock::now() + 1ms));
            EXPECT_FALSE(guard.try_lock_shared_until(std::chrono::system_clock::now() + 1ms));
            EXPECT_FALSE(guard.try_lock_shared_for(-1h));
            EXPECT_FALSE(guard.try_lock_for(1ms));
            EXPECT_FALSE(guard.try_lock_until(std::chrono::system_clock::now() - 1h));
        };
        sennit::fiber({.runtime = &runtime}, other).join();
        std::thread(other).join();
        guard.unlock();
        EXPECT_TRUE(guard.try_lock_shared_for(0s));
        EXPECT_TRUE(guard.try_lock_shared_until(std::chrono::steady_clock::now() - 1h))
            << "a reader can enter";
        guard.unlock_shared();
        guard.unlock_shared();
        sennit::fiber waiter({.runtime = &runtime}, [&] {
            EXPECT_TRUE(guard.try_lock_for(1h));
            guard.unlock();
            EXPECT_TRUE(guard.try_lock_shared_until(std::chrono::system_clock::now() + 1h));
            guard.unlock_shared();
        });
        waiter.join();
    };
    body();
    runtime.run(body);
}

TEST_P(shared_mutex_on, last_owner_destroys_shared_mutex) {
    struct shared {
        sennit::shared_mutex guard;
        std::atomic<int> users{4};
    };
    runtime.run([] {
        for (int round = 0; round < race_rounds / 20; ++round) {
            auto* one = new shared;
            std::vector<sennit::fiber> all;
            for (int i = 0; i < 4; ++i)
                all.emplace_back([one, i] {
                    if (i % 2 == 0) {
                        std::shared_lock own(one->guard);
                        sennit::this_fiber::yield();
                    } else {
                        std::lock_guard own(one->guard);
                    }
                    if (--one->users == 0) delete one;
                });
        }
    });
}

} // namespace
