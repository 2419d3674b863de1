// SPDX-License-Identifier: Apache-2.0
// Tests the mutexes: exclusion, errors, deadlines, destruction.
#include "strands.hpp"

#include <sennit/event.hpp>
#include <sennit/mutex.hpp>
#include <sennit/shared_mutex.hpp>

#include <mutex>

namespace {

class mutex : public strands {};
SENNIT_BY_STRANDS(mutex);
class mutex_on : public on_workers {};
SENNIT_ON_WORKERS(mutex_on);

template <class Mutex>
class every_mutex : public testing::Test {};
using mutexes =
    testing::Types<sennit::mutex, sennit::timed_mutex, sennit::recursive_mutex,
                   sennit::recursive_timed_mutex, sennit::shared_mutex, sennit::shared_timed_mutex>;
TYPED_TEST_SUITE(every_mutex, mutexes);
template <class Mutex>
class timed : public testing::Test {};
using timed_mutexes =
    testing::Types<sennit::timed_mutex, sennit::recursive_timed_mutex, sennit::shared_timed_mutex>;
TYPED_TEST_SUITE(timed, timed_mutexes);

template <class Mutex>
constexpr bool recursive = std::is_same_v<Mutex, sennit::recursive_mutex> ||
                           std::is_same_v<Mutex, sennit::recursive_timed_mutex>;

template <class Mutex, class Together>
void expect_exclusion(const char* name, Together&& together) {
    constexpr int rounds = 500;
    Mutex guard;
    long count = 0; // Guarded by `guard`.
    int inside = 0; // Guarded by `guard`.
    together(8, [&](std::size_t i) {
        for (int k = 0; k < rounds; ++k) {
            if ((i + static_cast<std::size_t>(k)) % 3 == 0)
                yield_until([&] { return guard.try_lock(); });
            else
                guard.lock();
            EXPECT_EQ(++inside, 1);
            if (k % 50 == 0) sennit::this_fiber::yield();
            ++count;
            --inside;
            guard.unlock();
        }
    });
    EXPECT_EQ(count, 8 * rounds) << name;
}

TEST_P(mutex, mutex_admits_one_strand_at_a_time) {
    const auto run = [this](std::size_t count, auto body) { together(count, body); };
    expect_exclusion<sennit::mutex>("mutex", run);
    expect_exclusion<sennit::recursive_timed_mutex>("recursive_timed_mutex", run);
    expect_exclusion<sennit::shared_mutex>("shared_mutex", run);
}

TEST_P(mutex, std_lock_takes_mutexes_in_any_order_without_deadlock) {
    sennit::mutex a, b;
    sennit::timed_mutex c;
    int count = 0; // Each of the three mutexes guards it.
    together(8, [&](std::size_t i) {
        for (int k = 0; k < 300; ++k) {
            if (i % 3 == 0) {
                std::scoped_lock both(a, b, c);
                ++count;
            } else if (i % 3 == 1) {
                std::scoped_lock both(c, b, a);
                ++count;
            } else {
                std::unique_lock first(b, std::defer_lock), second(a, std::defer_lock);
                std::unique_lock third(c, std::defer_lock);
                std::lock(first, third, second);
                ++count;
            }
        }
    });
    EXPECT_EQ(count, 8 * 300);
}

// A strand that immediately takes the lock again does not lock a waiter out forever.
TEST_P(mutex_on, mutex_is_handed_to_long_waiting_strand) {
    runtime.run([] {
        sennit::mutex guard;
        std::atomic<bool> waits{false}, got{false};
        std::unique_lock first(guard);
        sennit::fiber waiter([&] {
            waits = true;
            std::lock_guard own(guard);
            got = true;
        });
        yield_until(waits);
        while (!got) {
            sennit::this_fiber::yield(); // The waiter always finds the mutex locked.
            first.unlock();
            first.lock();
        }
        first.unlock();
        waiter.join();
    });
}

// The last owner may destroy a mutex, even while the previous owner has not returned from unlock.
TEST_P(mutex, last_owner_destroys_mutex) {
    struct shared {
        sennit::timed_mutex guard;
        int owners = 4;
    };
    for (int round = 0; round < race_rounds / 20; ++round) {
        auto* one = new shared;
        together(4, [&](std::size_t i) {
            if (i % 2 == 0)
                one->guard.lock();
            else
                yield_until([&] { return one->guard.try_lock_for(soon(round)); });
            const bool last = --one->owners == 0;
            one->guard.unlock();
            if (last) delete one;
        });
    }
}

TYPED_TEST(every_mutex, mutex_refuses_calls_that_caller_may_not_make) {
    sennit::runtime runtime({.workers = 2});
    const auto body = [&] {
        TypeParam guard;
        expect_error(std::errc::operation_not_permitted, [&] { guard.unlock(); });
        guard.lock();
        if constexpr (!recursive<TypeParam>) {
            expect_error(std::errc::resource_deadlock_would_occur, [&] { guard.lock(); });
            EXPECT_FALSE(guard.try_lock());
        }
        const auto other = [&] {
            EXPECT_FALSE(guard.try_lock());
            expect_error(std::errc::operation_not_permitted, [&] { guard.unlock(); });
        };
        sennit::fiber({.runtime = &runtime}, other).join();
        std::thread(other).join();
        guard.unlock();
        expect_error(std::errc::operation_not_permitted, [&] { guard.unlock(); });
        EXPECT_TRUE(guard.try_lock());
        guard.unlock();
    };
    body();
    runtime.run(body);
    runtime.run([&] { sennit::fiber(body).join(); });
}

TYPED_TEST(every_mutex, relocked_mutex_has_no_memory_of_earlier_waiter) {
    sennit::runtime runtime({.workers = 1});
    runtime.run([] {
        TypeParam guard;
        for (int i = 0; i < 1000; ++i) {
            sennit::fiber one([&] { std::lock_guard own(guard); });
            std::unique_lock own(guard);
            sennit::this_fiber::yield(); // The fiber waits now.
            own.unlock();
            one.join();
            ASSERT_TRUE(guard.try_lock());
            guard.unlock();
        }
    });
}

TEST_P(mutex_on, recursive_mutex_is_free_after_equal_number_of_unlocks) {
    runtime.run([] {
        sennit::recursive_timed_mutex guard;
        const auto others = [&] {
            return sennit::fiber([&] {
                       const bool got = guard.try_lock();
                       if (got) guard.unlock();
                       return got;
                   })
                .join<bool>();
        };
        guard.lock();
        EXPECT_TRUE(guard.try_lock());
        EXPECT_TRUE(guard.try_lock_for(1us));
        EXPECT_TRUE(guard.try_lock_until(std::chrono::system_clock::now()));
        for (int held = 4; held > 0; --held) {
            EXPECT_FALSE(others());
            guard.unlock();
        }
        EXPECT_TRUE(others());
        expect_error(std::errc::operation_not_permitted, [&] { guard.unlock(); });
    });
}

TYPED_TEST(timed, timed_lock_ends_at_deadline_and_not_before) {
    sennit::runtime runtime({.workers = 2});
    const auto body = [&] {
        TypeParam guard;
        sennit::event locked, over;
        sennit::fiber holder({.runtime = &runtime}, [&] {
            std::lock_guard own(guard);
            locked.set();
            over.wait();
        });
        locked.wait();
        EXPECT_FALSE(guard.try_lock());
        EXPECT_FALSE(guard.try_lock_for(0s));
        EXPECT_FALSE(guard.try_lock_for(-1h));
        const auto began = std::chrono::steady_clock::now();
        EXPECT_FALSE(guard.try_lock_for(2ms));
        EXPECT_GE(std::chrono::steady_clock::now() - began, 2ms);
        EXPECT_FALSE(guard.try_lock_until(std::chrono::steady_clock::now() + 1ms));
        EXPECT_FALSE(guard.try_lock_until(std::chrono::system_clock::now() + 1ms));
        std::thread later([&] { over.set(); });
        EXPECT_TRUE(guard.try_lock_for(std::chrono::hours::max()));
        guard.unlock();
        later.join();
        holder.join();
        EXPECT_TRUE(guard.try_lock_for(0s));
        guard.unlock();
        EXPECT_TRUE(guard.try_lock_until(std::chrono::steady_clock::now() - 1s))
            << "a free mutex is locked even after the deadline";
        guard.unlock();
    };
    body();
    runtime.run(body);
}

TEST_P(mutex, mutex_is_free_after_race_of_deadlines_and_unlocks) {
    sennit::timed_mutex guard;
    std::atomic<int> got{0}, late{0};
    int count = 0; // Guarded by `guard`.
    together(4, [&](std::size_t) {
        for (int i = 0; i < race_rounds / 4; ++i) {
            if (guard.try_lock_for(soon(i))) {
                ++count;
                if (i % 16 == 0) sennit::this_fiber::yield();
                guard.unlock();
                ++got;
            } else {
                ++late;
            }
        }
    });
    EXPECT_EQ(got, count);
    EXPECT_EQ(got + late, race_rounds / 4 * 4);
    EXPECT_TRUE(guard.try_lock());
    guard.unlock();
}

TEST_F(sync_death_test, destruction_of_mutex_with_waiter_ends_program) {
    EXPECT_DEATH(
        {
            auto* guard = new sennit::mutex;
            guard->lock();
            destroy_under_a_waiter(guard, [](auto& it) { it.lock(); });
        },
        "sennit: \\[SNT-201\\] a mutex was destroyed while a fiber or thread waits for it");
    EXPECT_DEATH(
        {
            auto* guard = new sennit::shared_mutex;
            guard->lock();
            destroy_under_a_waiter(guard, [](auto& it) { it.lock_shared(); });
        },
        "sennit: \\[SNT-205\\] a shared mutex was destroyed while a fiber or thread waits for it");
}

} // namespace
