// SPDX-License-Identifier: Apache-2.0
// Tests sennit::nursery: children, errors, cancellation, and the destructor.
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

TEST_P(nursery, join_waits_for_all_children_and_nursery_is_reusable) {
    const auto body = [] {
        std::atomic<int> ended{0};
        sennit::nursery children;
        children.join(); // The nursery has no children yet.
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

TEST_P(nursery, children_start_siblings) {
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

TEST_P(nursery, several_threads_start_children) {
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

TEST_P(nursery, join_rethrows_first_error_after_all_have_ended) {
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

TEST_P(nursery, nursery_keeps_one_error_of_many) {
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
        EXPECT_NO_THROW(children.join()) << "the error was delivered already";
    });
}

TEST_P(nursery, cancel_causes_no_error) {
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

TEST_P(nursery, join_returns_normally_after_cancel_of_unfinished_child) {
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
        children.start([&] { finished = true; }); // The child never runs.
        EXPECT_NO_THROW(children.join());
        EXPECT_FALSE(finished);
        EXPECT_TRUE(children.cancelled());
    });
}

TEST_P(nursery, join_throws_exception_of_child_after_cancel) {
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

TEST_P(nursery, cancelled_thrown_by_child_is_error) {
    runtime.run([] {
        sennit::nursery children;
        children.start([] { throw sennit::cancelled(); });
        EXPECT_THROW(children.join(), sennit::cancelled);
    });
}

TEST_P(nursery, cancelled_nursery_starts_no_child) {
    auto token = std::make_shared<int>(1);
    runtime.run([&] {
        std::atomic<int> ran{0};
        sennit::nursery children;
        if (GetParam() == 1) { // Otherwise another worker may start the children.
            for (int i = 0; i < 100; ++i) children.start([&, token] { ++ran; });
        }
        children.cancel();
        for (int i = 0; i < 100; ++i) children.start([&, token] { ++ran; });
        children.join();
        EXPECT_EQ(ran, 0);
    });
    EXPECT_EQ(token.use_count(), 1) << "closures that did not run are destroyed";
}

TEST_P(nursery, failed_start_leaves_nursery_unchanged) {
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

TEST_P(nursery, computing_children_see_stop_request) {
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
        EXPECT_TRUE(late.get_stop_token().stop_requested())
            << "a token that is requested after the cancellation reports it";
    });
}

TEST_P(nursery, children_start_with_policy_and_name) {
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

TEST_P(nursery, destructor_cancels_and_waits) {
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

TEST_P(nursery, destructor_throws_unjoined_error) {
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

TEST_P(nursery, destructor_drops_errors_during_unwinding) {
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

// A nursery inside a destructor may run while an exception unwinds the stack. That exception does
// not leave the nursery's block, so the nursery must still throw its own error.
TEST_P(nursery, nursery_created_during_unwinding_throws_its_own_error) {
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
