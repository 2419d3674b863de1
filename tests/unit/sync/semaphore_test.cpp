// SPDX-License-Identifier: Apache-2.0
// Tests counting_semaphore and binary_semaphore.
#include "strands.hpp"

#include <sennit/nursery.hpp>
#include <sennit/semaphore.hpp>

#include <mutex>

namespace {

class semaphore : public strands {};
SENNIT_BY_STRANDS(semaphore);
class semaphore_on : public on_workers {};
SENNIT_ON_WORKERS(semaphore_on);

template <class Semaphore>
int drain(Semaphore& tokens) {
    int count = 0;
    while (tokens.try_acquire()) ++count;
    return count;
}

TEST(semaphore_alone, semaphore_counts_tokens) {
    static_assert(sennit::binary_semaphore::max() == 1);
    static_assert(sennit::counting_semaphore<7>::max() == 7);
    static_assert(sennit::counting_semaphore<>::max() > 1'000'000);
    sennit::counting_semaphore<5> tokens(2);
    tokens.acquire();
    EXPECT_TRUE(tokens.try_acquire());
    EXPECT_FALSE(tokens.try_acquire());
    tokens.release(5);
    tokens.release(0);
    EXPECT_EQ(drain(tokens), 5);
}

TEST(semaphore_alone, release_beyond_maximum_is_refused) {
    sennit::counting_semaphore<3> three(1);
    expect_error(std::errc::value_too_large, [&] { three.release(3); });
    expect_error(std::errc::value_too_large, [&] { three.release(PTRDIFF_MAX); });
    three.release(2);
    expect_error(std::errc::value_too_large, [&] { three.release(); });
    EXPECT_EQ(drain(three), 3) << "a refused release adds none";
    sennit::counting_semaphore<> many(PTRDIFF_MAX);
    expect_error(std::errc::value_too_large, [&] { many.release(); });
    EXPECT_TRUE(many.try_acquire());
    many.release();
    sennit::counting_semaphore<0> none(0);
    expect_error(std::errc::value_too_large, [&] { none.release(); });
    EXPECT_FALSE(none.try_acquire_for(1us));
}

TEST_P(semaphore, semaphore_admits_no_more_strands_than_tokens) {
    sennit::counting_semaphore<3> tokens(3);
    std::atomic<int> inside{0};
    together(8, [&](std::size_t i) {
        for (int k = 0; k < 300; ++k) {
            if (i % 2 == 0)
                tokens.acquire();
            else
                yield_until([&] { return tokens.try_acquire_for(soon(k)); });
            EXPECT_LE(++inside, 3);
            if (k % 20 == 0) sennit::this_fiber::yield();
            --inside;
            tokens.release();
        }
    });
    EXPECT_EQ(drain(tokens), 3);
}

TEST_P(semaphore, strands_pass_token_around_ring) {
    constexpr std::size_t count = 6;
    std::vector<std::unique_ptr<sennit::binary_semaphore>> turn;
    for (std::size_t i = 0; i < count; ++i)
        turn.push_back(std::make_unique<sennit::binary_semaphore>(i == 0));
    int steps = 0; // Accessed only by the strand that has the token.
    together(count, [&](std::size_t i) {
        for (int k = 0; k < 200; ++k) {
            turn[i]->acquire();
            EXPECT_EQ(steps % static_cast<int>(count), static_cast<int>(i));
            ++steps;
            turn[(i + 1) % count]->release();
        }
    });
    EXPECT_EQ(steps, 200 * static_cast<int>(count));
}

TEST_P(semaphore, release_wakes_one_waiter_per_token) {
    constexpr std::size_t count = 6;
    sennit::counting_semaphore<> tokens(0);
    std::atomic<std::size_t> waiting{0}, got{0};
    together(count + 1, [&](std::size_t i) {
        if (i < count) {
            ++waiting;
            tokens.acquire();
            ++got;
            return;
        }
        yield_until([&] { return waiting == count; });
        for (std::size_t released = 0; released < count; released += 2) {
            tokens.release(2);
            yield_until([&] { return got == released + 2; });
            let_others_run();
            EXPECT_EQ(got, released + 2);
        }
    });
    EXPECT_EQ(drain(tokens), 0);
}

TEST_P(semaphore_on, waiters_are_served_in_arrival_order) {
    if (GetParam() != 1) GTEST_SKIP() << "with more workers the order of arrival is unknown";
    runtime.run([] {
        sennit::counting_semaphore<> tokens(0);
        std::vector<int> order;
        std::vector<sennit::fiber> all;
        for (int i = 0; i < 5; ++i) {
            std::atomic<bool> about{false};
            all.emplace_back([&, i] {
                about = true;
                tokens.acquire();
                order.push_back(i);
            });
            yield_until(about);
            let_others_run();
        }
        tokens.release(5);
        EXPECT_FALSE(tokens.try_acquire()) << "the tokens belong to the waiters";
        all.clear();
#ifndef SENNIT_STRESS // Random yields change the order in which the fibers use the vector.
        EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
#endif
        EXPECT_EQ(order.size(), 5u);
    });
}

TEST_P(semaphore_on, timed_acquire_ends_at_deadline_and_not_before) {
    const auto body = [this] {
        sennit::binary_semaphore token(0);
        const auto began = std::chrono::steady_clock::now();
        EXPECT_FALSE(token.try_acquire_for(2ms));
        EXPECT_GE(std::chrono::steady_clock::now() - began, 2ms);
        EXPECT_FALSE(token.try_acquire_for(0s));
        EXPECT_FALSE(token.try_acquire_for(-1h));
        EXPECT_FALSE(token.try_acquire_until(std::chrono::steady_clock::now() + 1ms));
        EXPECT_FALSE(token.try_acquire_until(std::chrono::system_clock::now() + 1ms));
        sennit::fiber giver({.runtime = &runtime}, [&] { token.release(); });
        EXPECT_TRUE(token.try_acquire_for(std::chrono::hours::max()));
        giver.join();
        token.release();
        EXPECT_TRUE(token.try_acquire_until(std::chrono::system_clock::now() - 1h))
            << "a token is available";
    };
    body();
    runtime.run(body);
}

TEST_P(semaphore, race_of_deadlines_and_releases_loses_no_token) {
    sennit::counting_semaphore<> tokens(0);
    std::atomic<int> taken{0}, late{0};
    constexpr int rounds = race_rounds / 2;
    together(4, [&](std::size_t i) {
        for (int k = 0; k < rounds; ++k) {
            if (i % 2 == 0) {
                tokens.release();
                if (k % 8 == 0) sennit::this_fiber::yield();
            } else if (tokens.try_acquire_for(soon(k))) {
                ++taken;
            } else {
                ++late;
            }
        }
    });
    EXPECT_EQ(taken + late, 2 * rounds);
    EXPECT_EQ(drain(tokens), 2 * rounds - taken);
}

TEST_P(semaphore_on, race_of_cancellations_and_releases_loses_no_token) {
    runtime.run([] {
        sennit::counting_semaphore<> tokens(0);
        std::atomic<int> taken{0};
        int released = 0;
        for (int i = 0; i < race_rounds; ++i) {
            sennit::nursery children;
            for (int k = 0; k < 2; ++k)
                children.start([&] {
                    tokens.acquire();
                    ++taken;
                });
            if (i % 2 == 0) sennit::this_fiber::yield();
            sennit::fiber giver([&] { tokens.release(); });
            ++released;
            if (i % 3 == 0) sennit::this_fiber::yield();
            children.cancel();
            children.join();
        }
        EXPECT_EQ(drain(tokens), released - taken);
    });
}

TEST_P(semaphore_on, semaphore_is_destroyed_after_last_acquire_returns) {
    const auto body = [this] {
        for (int i = 0; i < race_rounds / 5; ++i) {
            auto done = std::make_unique<sennit::binary_semaphore>(0);
            sennit::fiber giver({.runtime = &runtime}, [&one = *done] { one.release(); });
            done->acquire();
            done.reset();
        }
    };
    body();
    runtime.run(body);
}

TEST_F(sync_death_test, destruction_of_semaphore_with_waiter_ends_program) {
    EXPECT_DEATH(
        destroy_under_a_waiter(new sennit::binary_semaphore(0), [](auto& it) { it.acquire(); }),
        "sennit: \\[SNT-213\\] a semaphore was destroyed while a fiber or thread waits for it");
}

} // namespace
