// SPDX-License-Identifier: Apache-2.0
// Tests sennit::scope: children, exceptions, the stop token, and the destructor.
#include "workers.hpp"

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

class scope : public with_workers {};
SENNIT_FOR_WORKERS(scope);

TEST_P(scope, scope_joins_thousands_of_small_and_large_children) {
    std::atomic<int> ran{0};
    runtime.run([&] {
        sennit::scope children;
        for (int i = 0; i < 3000; ++i) {
            children.spawn([&] { ++ran; });
            children.spawn([&, text = std::string(80, 'x')] { ran += text.size() == 80; });
        }
        children.join();
        EXPECT_EQ(ran, 6000);
    });
}

void grow(sennit::scope& family, std::atomic<int>& ran, int depth) {
    ++ran;
    if (depth == 0) return;
    for (int i = 0; i < 3; ++i)
        family.spawn([&family, &ran, depth] { grow(family, ran, depth - 1); });
}

TEST_P(scope, children_spawn_siblings) {
    std::atomic<int> ran{0};
    runtime.run([&] {
        sennit::scope family;
        grow(family, ran, 6);
        family.join();
    });
    EXPECT_EQ(ran, (2187 - 1) / 2);
}

TEST_P(scope, other_forks_spawn_children) {
    std::atomic<int> ran{0};
    runtime.run([&] {
        sennit::scope children;
        children.spawn([&] { ++ran; });
        sennit::fork_join([&] { children.spawn([&] { ++ran; }); },
                          [&] { children.spawn([&] { ++ran; }); });
        children.spawn([&] { ++ran; });
        children.join();
    });
    EXPECT_EQ(ran, 4);
}

TEST_P(scope, join_throws_first_exception_and_unstarted_children_are_dropped) {
    std::atomic<int> ran{0};
    runtime.run([&] {
        sennit::scope children;
        children.spawn([] { throw std::runtime_error("x"); });
        EXPECT_THROW(children.join(), std::runtime_error);
        children.spawn([&] { ++ran; }); // The scope is like new.
        children.join();
        EXPECT_EQ(ran, 1);
        children.request_stop();
        children.spawn([&] { ++ran; });
        children.join();
        EXPECT_EQ(ran, 1);
        children.spawn([&] { ++ran; }); // The scope is like new again.
        children.join();
    });
    EXPECT_EQ(ran, 2);
}

TEST_P(scope, running_children_see_stop_request) {
    runtime.run([&] {
        sennit::scope children;
        const std::stop_token token = children.get_stop_token();
        std::atomic<bool> started{false};
        children.spawn([&] {
            started = true;
            while (!token.stop_requested()) sennit::sched::yield();
        });
        children.spawn([&] {
            while (!started && !token.stop_requested()) sennit::sched::yield();
            throw std::runtime_error("x");
        });
        EXPECT_THROW(children.join(), std::runtime_error);
    });
}

TEST_P(scope, destructor_throws_unjoined_exception) {
    runtime.run([] {
        EXPECT_THROW(
            {
                sennit::scope children;
                children.spawn([] { throw std::runtime_error("x"); });
            },
            std::runtime_error);
        try {
            sennit::scope children;
            children.spawn([] { throw std::runtime_error("child"); });
            throw std::logic_error("body");
        } catch (const std::logic_error& error) {
            EXPECT_STREQ(error.what(), "body");
        }
    });
}

TEST_P(scope, every_closure_is_destroyed_run_or_dropped) {
    auto token = std::make_shared<int>(1);
    runtime.run([&] {
        sennit::scope children;
        for (int i = 0; i < 200; ++i)
            children.spawn([token, i] {
                if (i == 50) throw std::runtime_error("x");
            });
        EXPECT_THROW(children.join(), std::runtime_error);
    });
    EXPECT_EQ(token.use_count(), 1);
}

TEST(scope_outside, scope_works_on_plain_thread) {
    std::atomic<int> ran{0};
    sennit::scope children;
    for (int i = 0; i < 100; ++i) children.spawn([&] { ++ran; });
    children.join();
    EXPECT_EQ(ran, 100);
}

} // namespace
