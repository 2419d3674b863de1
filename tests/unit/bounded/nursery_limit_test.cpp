// SPDX-License-Identifier: Apache-2.0
// Tests the limit of a nursery and collected errors: places, queued children, and cancellation of a
// start that waits.
#include "on_workers.hpp"

#include <sennit/channel.hpp>
#include <sennit/event.hpp>
#include <sennit/exception_list.hpp>
#include <sennit/nursery.hpp>
#include <sennit/with_timeout.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

class nursery_limit : public on_workers {};
SENNIT_ON_WORKERS(nursery_limit);

TEST_P(nursery_limit, at_most_so_many_children_run_at_a_time) {
    const auto body = [] {
        for (const std::size_t limit : {1u, 2u, 7u, 1000u}) {
            most_inside inside;
            std::atomic<int> ran{0};
            sennit::nursery jobs({.limit = limit});
            for (int i = 0; i < 300; ++i)
                jobs.start([&, i] {
                    inside.enter();
                    if (i % 3 != 0) sennit::this_fiber::yield();
                    ++ran;
                    inside.leave();
                });
            jobs.join();
            EXPECT_EQ(ran, 300);
            EXPECT_LE(inside.most(), static_cast<int>(limit));
        }
    };
    runtime.run(body);
    body(); // on a plain thread, whose children run in the default runtime
}

TEST_P(nursery_limit, owner_waits_until_a_child_ends) {
    runtime.run([] {
        sennit::event go_on, third_is_next;
        std::atomic<bool> third{false};
        sennit::nursery jobs({.limit = 2});
        jobs.start([&] { go_on.wait(); });
        jobs.start([&] { go_on.wait(); });
        sennit::fiber opener([&] {
            third_is_next.wait();
            let_others_run();
            EXPECT_FALSE(third);
            go_on.set();
        });
        third_is_next.set();
        jobs.start([&] { third = true; });
        EXPECT_TRUE(go_on.try_wait()) << "a place was free only after the event";
        jobs.join();
        EXPECT_TRUE(third);
    });
}

// With errgroup's SetLimit this program hangs.
TEST_P(nursery_limit, child_that_starts_siblings_at_the_limit_does_not_block) {
    runtime.run([] {
        for (const std::size_t limit : {1u, 3u}) {
            std::atomic<int> ran{0};
            most_inside inside;
            sennit::nursery family({.limit = limit});
            std::function<void(int)> grow = [&](int depth) {
                inside.enter();
                ++ran;
                for (int i = 0; i < 3 && depth > 0; ++i)
                    family.start([&grow, depth] { grow(depth - 1); });
                sennit::this_fiber::yield();
                inside.leave();
            };
            family.start([&] { grow(4); });
            family.join();
            EXPECT_EQ(ran, (243 - 1) / 2);
            EXPECT_LE(inside.most(), static_cast<int>(limit));
        }
    });
}

TEST_P(nursery_limit, queued_children_start_in_order_and_before_waiting_owner) {
    runtime.run([] {
        std::vector<int> order; // the limit of 1 orders the accesses
        sennit::event queued;
        sennit::nursery jobs({.limit = 1});
        jobs.start([&] {
            for (int i = 0; i < 5; ++i) jobs.start([&, i] { order.push_back(i); });
            queued.set();
        });
        queued.wait();
        jobs.start([&] { order.push_back(5); });
        jobs.join();
        EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5}));
    });
}

TEST_P(nursery_limit, other_threads_and_forks_queue_their_children) {
    std::atomic<int> ran{0};
    most_inside inside;
    sennit::nursery jobs({.limit = 2});
    std::vector<std::thread> threads;
    for (int k = 0; k < 4; ++k)
        threads.emplace_back([&] {
            for (int i = 0; i < 100; ++i)
                jobs.start({.runtime = &runtime}, [&] {
                    inside.enter();
                    ++ran;
                    inside.leave();
                });
        });
    for (auto& one : threads) one.join();
    jobs.join();
    EXPECT_EQ(ran, 400);
    EXPECT_LE(inside.most(), 2);
}

TEST_P(nursery_limit, try_start_takes_free_place_or_returns_false) {
    runtime.run([] {
        sennit::event go_on;
        std::atomic<int> ran{0};
        auto token = std::make_unique<int>(1);
        sennit::nursery jobs({.limit = 1});
        ASSERT_TRUE(jobs.try_start([&] {
            go_on.wait();
            ++ran;
        }));
        auto other = [&, mine = std::move(token)] { ++ran; };
        EXPECT_FALSE(jobs.try_start(std::move(other)));
        EXPECT_FALSE(jobs.try_start({.name = "late"}, [&] { ++ran; }));
        go_on.set();
        yield_until([&] { return jobs.try_start([&] { ++ran; }); });
        jobs.join();
        EXPECT_EQ(ran, 2);
        jobs.cancel();
        EXPECT_FALSE(jobs.try_start([&] { ++ran; }));
        sennit::nursery unlimited;
        EXPECT_TRUE(unlimited.try_start([&] { ++ran; }));
        unlimited.join();
        EXPECT_EQ(ran, 3);
    });
}

// The reported error is the child's, not the cancellation that it caused.
TEST_P(nursery_limit, error_ends_waiting_start_and_is_reported) {
    runtime.run([] {
        std::atomic<bool> second_began{false}, third{false};
        sennit::nursery jobs({.limit = 2});
        jobs.start([&] {
            yield_until(second_began);
            let_others_run();
            throw std::runtime_error("mine");
        });
        jobs.start([&] {
            second_began = true;
            sennit::event().wait(); // cancelled by the error
        });
        jobs.start([&] { third = true; });
        while (!jobs.cancelled()) jobs.start([] {});
        EXPECT_FALSE(third);
        try {
            jobs.join();
            ADD_FAILURE();
        } catch (const std::runtime_error& error) {
            EXPECT_STREQ(error.what(), "mine");
        }
    });
}

TEST_P(nursery_limit, cancelled_start_throws_and_gives_its_place_back) {
    runtime.run([] {
        for (int round = 0; round < race_rounds / 20; ++round) {
            sennit::event go_on;
            std::atomic<int> ran{0};
            sennit::nursery jobs({.limit = 1});
            jobs.start([&] { go_on.wait(); });
            sennit::fiber opener([&] { go_on.set(); });
            bool started = false;
            try {
                sennit::with_timeout(std::chrono::nanoseconds(round % 3000), [&] {
                    jobs.start([&] { ++ran; });
                    started = true;
                });
            } catch (const sennit::timed_out&) {
            }
            opener.join();
            jobs.start([&] { ran += 10; }); // would block for ever if the place were lost
            jobs.join();
            EXPECT_EQ(ran, started ? 11 : 10);
        }
    });
}

TEST_P(nursery_limit, cancellation_from_above_ends_waiting_start) {
    runtime.run([] {
        std::atomic<bool> full{false}, thrown{false};
        sennit::nursery outer;
        outer.start([&] {
            sennit::nursery inner({.limit = 1});
            inner.start([&] { sennit::event().wait(); });
            full = true;
            try {
                inner.start([] { ADD_FAILURE(); });
            } catch (const sennit::cancelled&) {
                thrown = true;
                throw;
            }
        });
        yield_until(full);
        let_others_run();
        outer.cancel();
        outer.join();
        // The cancellation may come before the start, which then does nothing.
        (void)thrown.load();
    });
}

TEST_P(nursery_limit, cancel_ends_waiting_start_although_children_run_on) {
    runtime.run([] {
        std::atomic<bool> full{false}, returned{false};
        sennit::nursery jobs({.limit = 1});
        jobs.start([&] {
            full = true;
            yield_until(returned); // no point of cancellation
        });
        sennit::fiber canceller([&] {
            yield_until(full);
            let_others_run();
            jobs.cancel();
        });
        jobs.start([] { ADD_FAILURE(); });
        returned = true;
        canceller.join();
        jobs.join();
    });
}

TEST_P(nursery_limit, cancel_drops_queued_children) {
    auto token = std::make_shared<int>(1);
    runtime.run([&] {
        std::atomic<bool> queued{false};
        std::atomic<int> ran{0};
        sennit::nursery jobs({.limit = 1});
        jobs.start([&] {
            for (int i = 0; i < 100; ++i) jobs.start([&, token] { ++ran; });
            queued = true;
            sennit::event().wait();
        });
        yield_until(queued);
        jobs.cancel();
        jobs.join();
        EXPECT_EQ(ran, 0);
    });
    EXPECT_EQ(token.use_count(), 1) << "closures that did not run are destroyed";
}

TEST_P(nursery_limit, start_that_throws_gives_its_place_back) {
    struct throws_when_copied {
        throws_when_copied() = default;
        throws_when_copied(const throws_when_copied&) { throw std::bad_alloc(); }
        void operator()() const {}
    };
    runtime.run([] {
        std::atomic<int> ran{0};
        sennit::nursery jobs({.limit = 1});
        const throws_when_copied bad;
        for (int i = 0; i < 3; ++i) EXPECT_THROW(jobs.start(bad), std::bad_alloc);
        EXPECT_THROW((void)jobs.try_start(bad), std::bad_alloc);
        jobs.start([&] { ++ran; });
        jobs.join();
        EXPECT_EQ(ran, 1);
    });
}

TEST_P(nursery_limit, launch_now_runs_child_in_free_place) {
    runtime.run([] {
        bool ran = false;
        sennit::nursery jobs({.limit = 1});
        jobs.start({.policy = sennit::launch::now}, [&] { ran = true; });
        jobs.join();
        EXPECT_TRUE(ran);
    });
}

TEST_P(nursery_limit, destructor_cancels_running_and_queued_children) {
    runtime.run([] {
        std::atomic<int> ran{0};
        std::atomic<bool> queued{false};
        {
            sennit::nursery jobs({.limit = 2});
            jobs.start([&] {
                for (int i = 0; i < 10; ++i) jobs.start([&] { sennit::event().wait(); });
                queued = true;
                sennit::event().wait();
            });
            yield_until(queued);
        }
        EXPECT_EQ(ran, 0);
    });
}

TEST_P(nursery_limit, collected_errors_cancel_nothing_and_join_throws_all) {
    const auto body = [] {
        for (const std::size_t limit : {std::size_t{1}, std::size_t{4}, SIZE_MAX}) {
            std::atomic<int> ran{0};
            sennit::nursery jobs({.limit = limit, .collect_errors = true});
            for (int i = 0; i < 40; ++i)
                jobs.start([&, i] {
                    if (i % 3 == 0) sennit::this_fiber::yield();
                    ++ran;
                    if (i % 4 == 0) throw std::runtime_error(std::to_string(i));
                });
            std::set<std::string> seen;
            try {
                jobs.join();
                ADD_FAILURE();
            } catch (const sennit::exception_list& all) {
                EXPECT_EQ(all.size(), 10u);
                for (const auto& one : all) {
                    try {
                        std::rethrow_exception(one);
                    } catch (const std::runtime_error& error) {
                        seen.insert(error.what());
                    }
                }
            }
            EXPECT_EQ(ran, 40);
            EXPECT_EQ(seen.size(), 10u);
            EXPECT_FALSE(jobs.cancelled());
            EXPECT_NO_THROW(jobs.join()) << "the errors were delivered already";
        }
    };
    runtime.run(body);
    body();
}

TEST_P(nursery_limit, destructor_throws_collected_errors_unless_unwinding) {
    runtime.run([] {
        const auto leave = [](bool by_exception) {
            std::atomic<bool> ended{false};
            sennit::nursery jobs({.collect_errors = true});
            jobs.start([&] {
                ended = true;
                throw std::logic_error("of a child");
            });
            yield_until(ended);
            if (by_exception) throw std::runtime_error("of the block");
        };
        EXPECT_THROW(leave(false), sennit::exception_list);
        EXPECT_THROW(leave(true), std::runtime_error);
    });
}

TEST(nursery_limit_misuse, limit_of_zero_ends_program) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_DEATH(sennit::nursery({.limit = 0}), "SNT-080");
}

} // namespace
