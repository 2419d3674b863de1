// SPDX-License-Identifier: Apache-2.0
// Tests programs in which several primitives work together.
#include "strands.hpp"

#include <sennit/barrier.hpp>
#include <sennit/condition_variable.hpp>
#include <sennit/event.hpp>
#include <sennit/latch.hpp>
#include <sennit/mutex.hpp>
#include <sennit/nursery.hpp>
#include <sennit/semaphore.hpp>
#include <sennit/shared_mutex.hpp>
#include <sennit/with_timeout.hpp>

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <stop_token>

namespace {

class mixed : public strands {};
SENNIT_BY_STRANDS(mixed);
class mixed_on : public on_workers {};
SENNIT_ON_WORKERS(mixed_on);

// A bounded queue, written as a program would write it with std.
template <class T>
class bounded_queue {
public:
    explicit bounded_queue(std::size_t room) : room_(room) {}
    void push(T value) {
        std::unique_lock lock(mutex_);
        not_full_.wait(lock, [&] { return values_.size() < room_; });
        values_.push_back(std::move(value));
        not_empty_.notify_one();
    }
    std::optional<T> pop() {
        std::unique_lock lock(mutex_);
        not_empty_.wait(lock, [&] { return !values_.empty() || closed_; });
        if (values_.empty()) return std::nullopt;
        T value = std::move(values_.front());
        values_.pop_front();
        not_full_.notify_one();
        return value;
    }
    void close() {
        std::lock_guard lock(mutex_);
        closed_ = true;
        not_empty_.notify_all();
    }

private:
    const std::size_t room_;
    sennit::mutex mutex_;
    sennit::condition_variable not_full_, not_empty_;
    std::deque<T> values_;
    bool closed_ = false;
};

TEST_P(mixed, producers_and_consumers_share_queue) {
    constexpr int each = 500;
    bounded_queue<int> queue(3);
    std::atomic<int> producers{4};
    std::atomic<long> sum{0}, taken{0};
    together(8, [&](std::size_t i) {
        if (i < 4) {
            for (int k = 0; k < each; ++k) queue.push(static_cast<int>(i) * each + k);
            if (--producers == 0) queue.close();
        } else {
            while (const std::optional<int> one = queue.pop()) {
                sum += *one;
                ++taken;
            }
        }
    });
    constexpr long all = 4 * each;
    EXPECT_EQ(taken, all);
    EXPECT_EQ(sum, all * (all - 1) / 2);
}

TEST_P(mixed, every_philosopher_eats) {
    constexpr std::size_t count = 5;
    std::array<sennit::timed_mutex, count> forks;
    std::array<int, count> meals{}; // An element is guarded by both forks.
    together(count, [&](std::size_t i) {
        auto &left = forks[i], &right = forks[(i + 1) % count];
        for (int k = 0; k < 100; ++k) {
            if (k % 2 == 0) {
                std::scoped_lock both(left, right);
                ++meals[i];
            } else {
                for (;;) {
                    std::unique_lock first(left);
                    std::unique_lock second(right, soon(k));
                    if (!second.owns_lock()) continue;
                    ++meals[i];
                    break;
                }
            }
            sennit::this_fiber::yield();
        }
    });
    EXPECT_TRUE(std::ranges::all_of(meals, [](int eaten) { return eaten == 100; }));
}

TEST_P(mixed, lock_is_held_across_other_waits) {
    sennit::mutex mutex;
    sennit::recursive_mutex again;
    sennit::binary_semaphore go(1);
    int count = 0; // Guarded by `mutex`.
    together(6, [&](std::size_t) {
        for (int k = 0; k < 50; ++k) {
            std::lock_guard own(mutex);
            std::lock_guard outer(again);
            go.acquire();
            sennit::this_fiber::yield(); // A fiber may continue on another thread.
            std::lock_guard inner(again);
            ++count;
            go.release();
        }
    });
    EXPECT_EQ(count, 300);
}

TEST_P(mixed, readers_see_whole_versions_in_every_phase) {
    constexpr std::size_t count = 6;
    sennit::shared_mutex guard;
    sennit::barrier<> phase(static_cast<std::ptrdiff_t>(count));
    std::array<int, 64> version{};
    together(count, [&](std::size_t i) {
        for (int k = 1; k <= 50; ++k) {
            if (static_cast<std::size_t>(k) % count == i) {
                std::lock_guard own(guard);
                for (int& one : version) one = k;
            } else {
                std::shared_lock own(guard);
                EXPECT_EQ(version.front(), version.back());
                EXPECT_TRUE(version.front() == k || version.front() == k - 1);
            }
            phase.arrive_and_wait();
            EXPECT_EQ(version.front(), k);
            phase.arrive_and_wait();
        }
    });
}

// The servers of a pool run in a nursery, and the clients run outside. When all requests are
// answered, the nursery is cancelled while the servers wait for more requests.
TEST_P(mixed_on, cancelled_pool_of_servers_loses_nothing) {
    runtime.run([this] {
        struct request {
            int value;
            int answer = 0;
            sennit::event done{};
        };
        constexpr int clients = 4, each = 200;
        bounded_queue<request*> requests(2);
        std::atomic<int> answered{0};
        sennit::nursery servers;
        for (int i = 0; i < 3; ++i)
            servers.start([&] {
                while (const auto one = requests.pop()) {
                    (*one)->answer = 2 * (*one)->value;
                    ++answered;
                    (*one)->done.set();
                }
            });
        const auto client = [&] {
            for (int k = 0; k < each; ++k) {
                request mine{k};
                requests.push(&mine);
                mine.done.wait();
                EXPECT_EQ(mine.answer, 2 * k);
            }
        };
        std::thread outside(client);
        {
            std::vector<sennit::fiber> inside;
            for (int i = 1; i < clients; ++i) inside.emplace_back(client);
        }
        // The runtime's worker must stay free for the servers.
        sennit::fiber waits({.runtime = &runtime},
                            [&] { yield_until([&] { return answered == clients * each; }); });
        waits.join();
        outside.join();
        servers.cancel();
        servers.join();
    });
}

// A tree of nurseries uses many primitives and is cancelled at any moment. Afterwards all locks are
// free and all tokens are back.
TEST_P(mixed_on, cancelled_tree_returns_all_locks_and_tokens) {
    runtime.run([] {
        sennit::mutex mutex;
        sennit::shared_timed_mutex shared;
        sennit::condition_variable changed;
        sennit::counting_semaphore<> tokens(3);
        struct token {
            sennit::counting_semaphore<>& from;
            explicit token(sennit::counting_semaphore<>& given) : from(given) { from.acquire(); }
            ~token() { from.release(); }
        };
        for (int round = 0; round < race_rounds / 50; ++round) {
            sennit::nursery outer;
            for (int i = 0; i < 3; ++i)
                outer.start([&, i] {
                    sennit::nursery inner;
                    for (int k = 0; k < 3; ++k)
                        inner.start([&, i, k] {
                            for (;;) {
                                const token one(tokens);
                                std::unique_lock own(mutex);
                                std::shared_lock read(shared, std::defer_lock);
                                if (read.try_lock_for(soon(k))) sennit::this_fiber::yield();
                                if (i == k) changed.notify_all();
                                (void)changed.wait_for(own, soon(i * 100 + k));
                                sennit::this_fiber::checkpoint();
                            }
                        });
                    inner.join();
                });
            let_others_run(round % 20);
            try {
                if (round % 2 == 0) outer.cancel();
                if (round % 2 == 1) outer.start([] { throw std::runtime_error("x"); });
                outer.join();
            } catch (const std::runtime_error&) {
            }
            ASSERT_TRUE(mutex.try_lock());
            mutex.unlock();
            ASSERT_TRUE(shared.try_lock());
            shared.unlock();
            for (int i = 0; i < 3; ++i) ASSERT_TRUE(tokens.try_acquire());
            ASSERT_FALSE(tokens.try_acquire());
            tokens.release(3);
        }
    });
}

// A time limit ends a group of fibers while a plain thread feeds it.
TEST_P(mixed_on, time_limit_ends_exchange_of_threads_and_fibers) {
    sennit::counting_semaphore<> fed(0), eaten(0);
    std::stop_source enough;
    std::thread feeder([&] {
        while (!enough.stop_requested()) {
            fed.release();
            (void)eaten.try_acquire_for(1ms);
        }
    });
    runtime.run([&] {
        EXPECT_THROW(sennit::with_timeout(20ms,
                                          [&] {
                                              sennit::nursery eaters;
                                              for (int i = 0; i < 4; ++i)
                                                  eaters.start([&] {
                                                      for (;;) {
                                                          fed.acquire();
                                                          eaten.release();
                                                          sennit::this_fiber::checkpoint();
                                                      }
                                                  });
                                              eaters.join();
                                          }),
                     sennit::timed_out);
    });
    enough.request_stop();
    feeder.join();
}

} // namespace
