// SPDX-License-Identifier: Apache-2.0
#include "on_workers.hpp"

#include <sennit/event.hpp>
#include <sennit/nursery.hpp>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

class nursery : public on_workers {};
SENNIT_ON_WORKERS(nursery);

void sleep_until_cancelled(std::atomic<int>& cancelled) {
    try {
        sennit::this_fiber::sleep_for(1h);
    } catch (const sennit::cancelled&) {
        ++cancelled;
        throw;
    }
}

TEST_P(nursery, waits_for_all_children_and_may_be_used_again) {
    const auto body = [] {
        std::atomic<int> ended{0};
        sennit::nursery children;
        children.join(); // none
        for (int round = 1; round <= 3; ++round) {
            for (int i = 0; i < 500; ++i)
                children.start([&, i] {
                    if (i % 3 == 0) sennit::this_fiber::yield();
                    ++ended;
                });
            children.join();
            EXPECT_EQ(ended, 500 * round);
        }
        EXPECT_FALSE(children.cancelled());
    };
    runtime.run(body);
    body();
}

TEST_P(nursery, lets_children_start_siblings) {
    std::atomic<int> ran{0};
    struct grower {
        sennit::nursery& family;
        std::atomic<int>& count;
        int depth;
        void operator()() const {
            ++count;
            for (int i = 0; i < 3 && depth > 0; ++i) family.start(grower{family, count, depth - 1});
        }
    };
    runtime.run([&] {
        sennit::nursery family;
        family.start(grower{family, ran, 6});
        family.join();
    });
    EXPECT_EQ(ran, (2187 - 1) / 2);
}

TEST_P(nursery, takes_children_from_several_threads) {
    std::atomic<int> ran{0};
    sennit::nursery children;
    std::vector<std::thread> threads;
    for (int k = 0; k < 4; ++k)
        threads.emplace_back([&] {
            for (int i = 0; i < 200; ++i) children.start({.runtime = &runtime}, [&] { ++ran; });
        });
    for (auto& one : threads) one.join();
    children.join();
    EXPECT_EQ(ran, 800);
}

TEST_P(nursery, rethrows_the_first_error_when_all_have_ended) {
    runtime.run([] {
        std::atomic<int> cancelled{0}, began{0};
        sennit::nursery children;
        for (int i = 0; i < 10; ++i)
            children.start([&] {
                ++began;
                sleep_until_cancelled(cancelled);
            });
        children.start([&] {
            yield_until([&] { return began == 10; });
            throw std::runtime_error("first");
        });
        try {
            children.join();
            ADD_FAILURE();
        } catch (const std::runtime_error& error) {
            EXPECT_STREQ(error.what(), "first");
        }
        EXPECT_EQ(cancelled, 10);
        EXPECT_TRUE(children.cancelled());
    });
}

TEST_P(nursery, keeps_one_error_of_many) {
    runtime.run([] {
        std::atomic<int> thrown{0};
        sennit::nursery children;
        for (int i = 0; i < 50; ++i)
            children.start([&] {
                ++thrown;
                throw std::runtime_error("x");
            });
        EXPECT_THROW(children.join(), std::runtime_error);
        EXPECT_GE(thrown, 1);
        EXPECT_NO_THROW(children.join()) << "it was delivered";
    });
}

TEST_P(nursery, has_no_error_when_it_is_cancelled_by_hand) {
    runtime.run([] {
        std::atomic<int> cancelled{0}, began{0};
        sennit::nursery children;
        for (int i = 0; i < 20; ++i)
            children.start([&] {
                ++began;
                sleep_until_cancelled(cancelled);
            });
        yield_until([&] { return began == 20; });
        EXPECT_FALSE(children.cancelled());
        std::thread([&] { children.cancel(); }).join();
        children.cancel();
        EXPECT_TRUE(children.cancelled());
        EXPECT_NO_THROW(children.join());
        EXPECT_EQ(cancelled, 20);
    });
}

TEST_P(nursery, join_returns_normally_after_cancel_though_no_child_finished) {
    runtime.run([] {
        std::atomic<bool> began{false}, finished{false};
        sennit::nursery children;
        children.start([&] {
            began = true;
            sennit::this_fiber::sleep_for(1h);
            finished = true;
        });
        yield_until([&] { return began.load(); });
        children.cancel();
        children.start([&] { finished = true; }); // never runs
        EXPECT_NO_THROW(children.join());
        EXPECT_FALSE(finished);
        EXPECT_TRUE(children.cancelled());
    });
}

TEST_P(nursery, join_throws_the_exception_of_a_child_also_after_cancel) {
    runtime.run([] {
        std::atomic<bool> began{false};
        sennit::nursery children;
        children.start([&] {
            began = true;
            try {
                sennit::this_fiber::sleep_for(1h);
            } catch (const sennit::cancelled&) {
                throw std::runtime_error("while cleaning up");
            }
        });
        yield_until([&] { return began.load(); });
        children.cancel();
        EXPECT_THROW(children.join(), std::runtime_error);
    });
}

TEST_P(nursery, takes_a_cancelled_thrown_by_hand_for_an_error) {
    runtime.run([] {
        sennit::nursery children;
        children.start([] { throw sennit::cancelled(); });
        EXPECT_THROW(children.join(), sennit::cancelled);
    });
}

TEST_P(nursery, starts_nobody_any_more_when_cancelled) {
    auto token = std::make_shared<int>(1);
    runtime.run([&] {
        std::atomic<int> ran{0};
        sennit::nursery children;
        if (GetParam() == 1) { // else another worker may start them
            for (int i = 0; i < 100; ++i) children.start([&, token] { ++ran; });
        }
        children.cancel();
        for (int i = 0; i < 100; ++i) children.start([&, token] { ++ran; });
        children.join();
        EXPECT_EQ(ran, 0);
    });
    EXPECT_EQ(token.use_count(), 1) << "closures that did not run are destroyed";
}

TEST_P(nursery, is_as_before_when_copying_a_childs_function_throws) {
    struct refusing {
        refusing() = default;
        refusing(const refusing&) { throw std::runtime_error("copy"); }
        void operator()() const { ADD_FAILURE(); }
    };
    const auto body = [] {
        int ran = 0;
        const refusing function;
        sennit::nursery children;
        EXPECT_THROW(children.start(function), std::runtime_error);
        children.start([&] { ++ran; });
        children.join();
        EXPECT_EQ(ran, 1);
    };
    runtime.run(body);
    body();
}

TEST_P(nursery, tells_children_that_compute) {
    runtime.run([] {
        std::atomic<int> began{0}, told{0};
        sennit::nursery children;
        for (int i = 0; i < 4; ++i)
            children.start([&](std::stop_token stop) {
                ++began;
                yield_until([&] { return stop.stop_requested(); });
                ++told;
            });
        const std::stop_token outside = children.get_stop_token();
        yield_until([&] { return began == 4; });
        EXPECT_FALSE(outside.stop_requested());
        children.cancel();
        EXPECT_TRUE(outside.stop_requested());
        children.join();
        EXPECT_EQ(told, 4);
        sennit::nursery late;
        late.cancel();
        EXPECT_TRUE(late.get_stop_token().stop_requested()) << "asked for after the cancellation";
    });
}

TEST_P(nursery, starts_children_now_and_with_names) {
    runtime.run([&] {
        bool ran = false;
        sennit::nursery children;
        children.start({.name = "child", .policy = sennit::launch::now},
                       [&] { ran = sennit::this_fiber::name() == "child"; });
        if (GetParam() == 1) {
            EXPECT_TRUE(ran);
        }
        children.join();
        EXPECT_TRUE(ran);
    });
}

TEST_P(nursery, cancels_and_waits_in_its_destructor) {
    runtime.run([] {
        std::atomic<int> cancelled{0}, began{0};
        {
            sennit::nursery children;
            for (int i = 0; i < 10; ++i)
                children.start([&] {
                    ++began;
                    sleep_until_cancelled(cancelled);
                });
            yield_until([&] { return began == 10; });
        }
        EXPECT_EQ(cancelled, 10);
    });
}

TEST_P(nursery, throws_from_its_destructor_what_nobody_has_joined) {
    const auto body = [] {
        std::atomic<bool> thrown{false};
        EXPECT_THROW(
            {
                sennit::nursery children;
                children.start([&] {
                    thrown = true;
                    throw std::runtime_error("x");
                });
                yield_until(thrown);
            },
            std::runtime_error);
    };
    runtime.run(body);
    body();
}

TEST_P(nursery, drops_errors_when_its_block_is_left_by_an_exception) {
    runtime.run([] {
        std::atomic<bool> thrown{false};
        try {
            sennit::nursery children;
            children.start([&] {
                thrown = true;
                throw std::runtime_error("child");
            });
            yield_until(thrown);
            throw std::logic_error("body");
        } catch (const std::logic_error& error) {
            EXPECT_STREQ(error.what(), "body");
        }
    });
}

// A block of its own inside a destructor that runs because of an exception is not itself left by
// one.
TEST_P(nursery, made_while_an_exception_unwinds_still_throws_its_own) {
    struct cleaner {
        bool& seen;
        ~cleaner() {
            try {
                sennit::nursery children;
                std::atomic<bool> thrown{false};
                children.start([&] {
                    thrown = true;
                    throw std::runtime_error("child");
                });
                yield_until(thrown);
            } catch (const std::runtime_error&) {
                seen = true;
            }
        }
    };
    runtime.run([] {
        bool seen = false;
        try {
            cleaner at_exit{seen};
            throw std::logic_error("body");
        } catch (const std::logic_error&) {
        }
        EXPECT_TRUE(seen);
    });
}

} // namespace
