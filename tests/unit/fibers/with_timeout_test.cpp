// SPDX-License-Identifier: Apache-2.0
// Tests with_timeout and with_deadline.
#include "blocked_calls.hpp"

#include <sennit/fiber.hpp>
#include <sennit/fork_each.hpp>
#include <sennit/fork_join.hpp>
#include <sennit/with_timeout.hpp>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

class with_timeout : public on_workers {
protected:
    // Calls `body` in a plain thread, the body of a runtime, a fiber, and forked children.
    template <class Body>
    void everywhere(Body&& body) {
        std::thread(std::ref(body)).join();
        runtime.run([&] {
            body();
            sennit::fiber(std::ref(body)).join();
            sennit::fork_each(3, [&](std::size_t) { body(); });
        });
    }
};
SENNIT_ON_WORKERS(with_timeout);

TEST_P(with_timeout, with_timeout_returns_result_or_exception_of_function) {
    everywhere([] {
        int x = 1;
        EXPECT_EQ(sennit::with_timeout(1h, [] { return 5; }), 5);
        EXPECT_EQ(&sennit::with_timeout(1h, [&]() -> int& { return x; }), &x);
        EXPECT_EQ(*sennit::with_timeout(1h, [] { return std::make_unique<int>(4); }), 4);
        sennit::with_timeout(std::chrono::hours::max(), [] {});
        sennit::with_timeout(0s, [] {}); // The function does not block.
        sennit::with_timeout(-1h, [] {});
        EXPECT_THROW(sennit::with_timeout(1h, [] { throw std::runtime_error("x"); }),
                     std::runtime_error);
        EXPECT_EQ(sennit::with_deadline(steady::now() + 1h, [] { return 6; }), 6);
        EXPECT_EQ(sennit::with_deadline(std::chrono::system_clock::now() + 1h, [] { return 7; }),
                  7);
    });
}

TEST_P(with_timeout, limit_ends_every_blocked_call) {
    everywhere([] {
        for (const blocked_call& what : blocked_calls) {
            std::atomic<bool> about{false};
            const auto began = steady::now();
            EXPECT_THROW(sennit::with_timeout(1ms, [&] { what.call(about); }), sennit::timed_out)
                << what.name;
            EXPECT_GE(steady::now() - began, 1ms) << what.name;
        }
    });
}

TEST_P(with_timeout, passed_limit_ends_every_later_blocking_call) {
    everywhere([] {
        for (const blocked_call& what : blocked_calls) {
            if (std::string(what.name) == "nested_nursery")
                continue; // The child of this call does not start, so nothing blocks.
            int cancelled = 0;
            std::atomic<bool> about{false};
            EXPECT_THROW(sennit::with_deadline(steady::now() - 1s,
                                               [&] {
                                                   try {
                                                       what.call(about);
                                                   } catch (const sennit::cancelled&) {
                                                       ++cancelled;
                                                   }
                                                   what.call(about);
                                               }),
                         sennit::timed_out)
                << what.name;
            EXPECT_EQ(cancelled, 1) << what.name;
        }
    });
}

TEST_P(with_timeout, limit_does_not_affect_later_calls) {
    everywhere([] {
        const auto until = steady::now() + 2ms;
        EXPECT_EQ(sennit::with_timeout(1ms, [] { return 1; }), 1);
        sennit::this_fiber::sleep_until(until);
        EXPECT_GE(steady::now(), until);
        EXPECT_THROW(sennit::with_timeout(0s, [] { sennit::event().wait(); }), sennit::timed_out);
        sennit::this_fiber::checkpoint();
        EXPECT_FALSE(sennit::event().wait_for(1ms));
    });
}

TEST_P(with_timeout, earliest_of_nested_limits_counts) {
    everywhere([] {
        bool inner_ended = false;
        EXPECT_THROW(sennit::with_timeout(1ms,
                                          [&] {
                                              sennit::with_timeout(1h,
                                                                   [] { sennit::event().wait(); });
                                              inner_ended = true;
                                          }),
                     sennit::timed_out);
        EXPECT_FALSE(inner_ended);
        sennit::with_timeout(1h, [&] {
            EXPECT_THROW(sennit::with_timeout(1ms, [] { sennit::event().wait(); }),
                         sennit::timed_out);
            sennit::this_fiber::sleep_for(1us); // The outer limit has not passed.
            sennit::this_fiber::checkpoint();
            inner_ended = true;
        });
        EXPECT_TRUE(inner_ended);
    });
}

// A function that retries after its own time limit must not retry forever after the limit of an
// enclosing with_timeout.
TEST_P(with_timeout, inner_with_timeout_reports_only_its_own_limit) {
    everywhere([] {
        int inner = 0, passed = 0;
        const auto insist = [&] {
            for (;;) {
                try {
                    sennit::with_timeout(1h, [] { sennit::event().wait(); });
                } catch (const sennit::timed_out&) {
                    if (++inner == 100) return;
                } catch (const sennit::cancelled&) {
                    ++passed;
                    throw;
                }
            }
        };
        EXPECT_THROW(sennit::with_timeout(1ms, insist), sennit::timed_out);
        EXPECT_EQ(inner, 0);
        EXPECT_EQ(passed, 1);
    });
}

TEST_P(with_timeout, timed_calls_keep_their_own_limit) {
    everywhere([] {
        sennit::with_timeout(1h, [] {
            EXPECT_FALSE(sennit::event().wait_for(1us));
            EXPECT_FALSE(sennit::binary_semaphore(0).try_acquire_for(1us));
            sennit::mutex mutex;
            sennit::condition_variable changed;
            std::unique_lock lock(mutex);
            EXPECT_EQ(changed.wait_for(lock, 1us), sennit::cv_status::timeout);
        });
    });
}

TEST_P(with_timeout, limit_does_not_interrupt_locks) {
    everywhere([&] {
        sennit::mutex mutex;
        sennit::event locked, over;
        sennit::fiber holder({.runtime = &runtime}, [&] {
            std::lock_guard own(mutex);
            locked.set();
            over.wait();
        });
        locked.wait();
        bool got = false;
        EXPECT_THROW(sennit::with_timeout(1ms,
                                          [&] {
                                              sennit::fiber later({.runtime = &runtime}, [&] {
                                                  sennit::this_fiber::sleep_for(5ms);
                                                  over.set();
                                              });
                                              mutex.lock();
                                              got = true;
                                              mutex.unlock();
                                              later.join();
                                              sennit::event().wait();
                                          }),
                     sennit::timed_out);
        EXPECT_TRUE(got);
    });
}

// with_timeout runs its function in the caller's strand, so that strand owns a lock inside and
// outside.
TEST_P(with_timeout, function_keeps_locks_and_id_of_caller) {
    everywhere([] {
        const auto id = sennit::this_fiber::get_id();
        sennit::with_timeout(1h, [&] { EXPECT_EQ(sennit::this_fiber::get_id(), id); });
        sennit::mutex mutex;
        sennit::condition_variable changed;
        std::unique_lock lock(mutex);
        EXPECT_THROW(sennit::with_timeout(1ms, [&] { changed.wait(lock); }), sennit::timed_out);
        EXPECT_TRUE(lock.owns_lock());
        if (lock.owns_lock()) lock.unlock();
        lock = sennit::with_timeout(1h, [&] { return std::unique_lock(mutex); });
        EXPECT_NO_THROW(lock.unlock()) << "the function of with_timeout locked the mutex";
        lock.release(); // If the unlock failed, the destructor would repeat it and end the program.
    });
}

TEST_P(with_timeout, cancellation_by_nursery_is_not_timeout) {
    runtime.run([] {
        std::atomic<bool> about{false};
        std::atomic<int> cancelled{0};
        sennit::nursery children;
        children.start([&] {
            try {
                sennit::with_timeout(1h, [&] {
                    about = true;
                    sennit::event().wait();
                });
            } catch (const sennit::cancelled&) {
                ++cancelled;
                throw;
            }
        });
        yield_until(about);
        children.cancel();
        EXPECT_NO_THROW(children.join());
        EXPECT_EQ(cancelled, 1);
    });
}

TEST_P(with_timeout, limit_ends_nurseries_of_function) {
    everywhere([] {
        std::atomic<int> cancelled{0}, began{0};
        EXPECT_THROW(sennit::with_timeout(2ms,
                                          [&] {
                                              sennit::nursery children;
                                              for (int i = 0; i < 10; ++i)
                                                  children.start([&] {
                                                      ++began;
                                                      try {
                                                          sennit::event().wait();
                                                      } catch (const sennit::cancelled&) {
                                                          ++cancelled;
                                                          throw;
                                                      }
                                                  });
                                              children.join();
                                          }),
                     sennit::timed_out);
        EXPECT_EQ(cancelled, began); // All children have ended.
    });
}

// The header sennit/with_timeout.hpp documents this exception. The first child yields until the
// second child has begun. The second child therefore counts as stolen, even if the worker of its
// parent runs it.
TEST_P(with_timeout, limit_does_not_reach_stolen_fork_but_inner_limit_does) {
    runtime.run([] {
        std::atomic<bool> begun{false}, reached{false}, other_reached{false}, joined{false};
        EXPECT_THROW(
            sennit::with_deadline(steady::now() - 1s,
                                  [&] {
                                      sennit::fork_join([&] { yield_until(begun); },
                                                        [&] {
                                                            begun = true;
                                                            try {
                                                                sennit::this_fiber::sleep_for(1us);
                                                            } catch (const sennit::cancelled&) {
                                                                reached = true;
                                                            }
                                                            try {
                                                                sennit::with_timeout(0s, [] {
                                                                    sennit::event().wait();
                                                                });
                                                            } catch (const sennit::timed_out&) {
                                                                other_reached = true;
                                                            }
                                                        });
                                      joined = true;
                                      sennit::event().wait(); // The limit of this call has passed.
                                  }),
            sennit::timed_out);
        EXPECT_FALSE(reached);
        EXPECT_TRUE(other_reached);
        EXPECT_TRUE(joined);
    });
}

// The release ends the wait if the time limit does not. Either the wait takes the token, or the
// token is left.
TEST_P(with_timeout, race_against_release_loses_no_token) {
    runtime.run([] {
        sennit::counting_semaphore<> tokens(0);
        int taken = 0, late = 0;
        for (int i = 0; i < race_rounds; ++i) {
            sennit::fiber giver([&] { tokens.release(); });
            try {
                sennit::with_timeout(std::chrono::nanoseconds(i % 3000), [&] { tokens.acquire(); });
                ++taken;
            } catch (const sennit::timed_out&) {
                ++late;
            }
        }
        EXPECT_EQ(taken + late, race_rounds);
        for (int i = 0; i < late; ++i)
            ASSERT_TRUE(tokens.try_acquire()) << "a token was lost: " << i << " of " << late;
        EXPECT_FALSE(tokens.try_acquire());
    });
}

} // namespace
