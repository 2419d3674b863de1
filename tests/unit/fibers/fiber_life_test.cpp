// SPDX-License-Identifier: Apache-2.0
// Tests the lives of fibers: names, ids, joins with a time limit, large numbers of fibers, and the
// end of a program that misuses a fiber.
#include "on_workers.hpp"

#include <sennit/event.hpp>
#include <sennit/fiber.hpp>

#include <chrono>
#include <cstdlib>
#include <set>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <typeinfo>
#include <unordered_set>
#include <vector>

namespace {

using namespace std::chrono_literals;

class fiber_life : public on_workers {};
SENNIT_ON_WORKERS(fiber_life);

TEST_P(fiber_life, name_has_at_most_23_characters) {
    runtime.run([] {
        const auto name = [](std::string_view given) {
            sennit::fiber one({.name = given},
                              [] { return std::string(sennit::this_fiber::name()); });
            const std::string outside(one.name());
            EXPECT_EQ(one.join<std::string>(), outside);
            return outside;
        };
        EXPECT_EQ(name(""), "");
        EXPECT_EQ(name("reader"), "reader");
        EXPECT_EQ(name("12345678901234567890123"), "12345678901234567890123");
        EXPECT_EQ(name("123456789012345678901234"), "12345678901234567890123");
        EXPECT_EQ(name(std::string(1000, 'x')), std::string(23, 'x'));
    });
}

TEST_P(fiber_life, every_fiber_has_unique_id) {
    using id = sennit::fiber::id;
    constexpr int count = 1000;
    std::set<id> ordered;
    std::unordered_set<id> hashed;
    std::set<std::string> printed;
    const auto add = [&](id one) {
        EXPECT_NE(one, id());
        ordered.insert(one);
        hashed.insert(one);
        std::ostringstream out;
        out << one;
        printed.insert(out.str());
    };
    runtime.run([&] {
        std::vector<sennit::fiber> all;
        sennit::event go;
        for (int i = 0; i < count; ++i)
            all.emplace_back([&] {
                go.wait();
                return sennit::this_fiber::get_id();
            });
        std::vector<id> outside;
        for (const auto& one : all) outside.push_back(one.get_id());
        go.set();
        for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].join<id>(), outside[i]);
        for (const id one : outside) add(one);
        add(sennit::this_fiber::get_id());
    });
    add(sennit::this_fiber::get_id());
    std::thread([&] { add(sennit::this_fiber::get_id()); }).join();
    EXPECT_EQ(ordered.size(), count + 3u);
    EXPECT_EQ(hashed.size(), count + 3u);
    EXPECT_EQ(printed.size(), count + 3u);
    EXPECT_EQ(id(), id());
    EXPECT_LT(id(), *ordered.begin());
    EXPECT_EQ(std::hash<id>()(*ordered.begin()), std::hash<id>()(id(*ordered.begin())));
}

TEST_P(fiber_life, racing_readers_get_one_id) {
    runtime.run([] {
        for (int i = 0; i < race_rounds; ++i) {
            sennit::fiber one([] { return sennit::this_fiber::get_id(); });
            const auto outside = one.get_id();
            ASSERT_EQ(one.join<sennit::fiber::id>(), outside) << "round " << i;
        }
    });
    for (int i = 0; i < race_rounds / 10; ++i) { // A thread and the fiber ask at the same time.
        std::atomic<bool> began{false};
        sennit::fiber one({.runtime = &runtime}, [&] {
            began = true;
            return sennit::this_fiber::get_id();
        });
        while (!began) {
        }
        const auto outside = one.get_id();
        ASSERT_EQ(one.join<sennit::fiber::id>(), outside) << "round " << i;
    }
}

TEST_P(fiber_life, fiber_stays_joinable_after_timed_out_join) {
    const auto body = [] {
        sennit::event go;
        sennit::fiber one([&] { return go.wait(), 5; });
        EXPECT_FALSE(one.join_for(0s));
        EXPECT_FALSE(one.join_for(-1h));
        EXPECT_FALSE(one.join_for(1ms));
        EXPECT_FALSE(one.join_until(std::chrono::steady_clock::now() + 1ms));
        EXPECT_FALSE(one.join_until(std::chrono::system_clock::now() + 1ms));
        EXPECT_TRUE(one.joinable());
        go.set();
        EXPECT_EQ(one.join<int>(), 5);
        sennit::fiber two([&] {});
        EXPECT_TRUE(two.join_for(1h));
        EXPECT_FALSE(two.joinable());
        sennit::fiber three([&] {});
        EXPECT_TRUE(three.join_until(std::chrono::system_clock::now() + 1h));
        sennit::fiber four([&] {});
        EXPECT_TRUE(four.join_for(std::chrono::hours::max()));
    };
    runtime.run(body);
    body();
}

TEST_P(fiber_life, timed_join_races_end_of_fiber) {
    runtime.run([] {
        int timed_out = 0, joined = 0;
        for (int i = 0; i < race_rounds; ++i) {
            sennit::event go;
            sennit::fiber one([&] { return go.wait(), i; });
            sennit::fiber signal([&] { go.set(); });
            if (i % 2 == 0) sennit::this_fiber::yield();
            if (one.join_for(std::chrono::nanoseconds(i % 5000))) {
                ++joined;
            } else {
                ++timed_out;
                ASSERT_TRUE(one.joinable());
                ASSERT_EQ(one.join<int>(), i);
            }
        }
        EXPECT_EQ(timed_out + joined, race_rounds);
    });
}

TEST_P(fiber_life, hundred_thousand_fibers_start_before_first_join) {
    constexpr int count = 100'000;
    std::atomic<int> ran{0};
    const auto body = [&] {
        std::vector<sennit::fiber> all;
        all.reserve(count);
        for (int i = 0; i < count; ++i)
            all.emplace_back(sennit::fiber_attributes{.runtime = &runtime}, [&] { ++ran; });
        for (auto& one : all) one.join();
    };
    runtime.run(body);
    EXPECT_EQ(ran, count);
    std::thread(body).join();
    EXPECT_EQ(ran, 2 * count);
}

TEST_P(fiber_life, thousands_of_fibers_block_at_once) {
    constexpr int count = 2000;
    runtime.run([] {
        std::atomic<int> blocked{0};
        sennit::event go;
        std::vector<sennit::fiber> all;
        for (int i = 0; i < count; ++i)
            all.emplace_back([&] {
                ++blocked;
                go.wait();
                --blocked;
            });
        yield_until([&] { return blocked == count; });
        go.set();
        all.clear();
        EXPECT_EQ(blocked, 0);
    });
}

int tree(int depth) {
    if (depth == 0) return 1;
    sennit::fiber left([=] { return tree(depth - 1); });
    sennit::fiber right([=] { return tree(depth - 1); });
    return left.join<int>() + right.join<int>();
}

TEST_P(fiber_life, fibers_join_children_to_any_depth) {
    EXPECT_EQ(runtime.run([] { return tree(12); }), 1 << 12);
}

class fiber_death_test : public testing::Test {
protected:
    void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

TEST_F(fiber_death_test, exception_of_detached_fiber_ends_program) {
    EXPECT_DEATH(sennit::runtime({.workers = 1}).run([] {
        sennit::event go;
        sennit::fiber one({.name = "culprit"}, [&] {
            go.wait();
            throw std::runtime_error("x");
        });
        one.detach();
        go.set();
        for (;;) sennit::this_fiber::yield();
    }),
                 "sennit: \\[SNT-111\\] an exception left fiber 'culprit' .*, which was detached");
}

TEST_F(fiber_death_test, exception_of_fiber_detached_after_its_end_ends_program) {
    EXPECT_DEATH(sennit::runtime({.workers = 1}).run([] {
        sennit::fiber one({.name = "culprit", .policy = sennit::launch::now},
                          [] { throw std::runtime_error("x"); });
        one.detach();
    }),
                 "sennit: \\[SNT-111\\] an exception left fiber 'culprit' .*, which was detached");
}

TEST_F(fiber_death_test, exception_of_unjoined_fiber_ends_program) {
    EXPECT_DEATH(sennit::runtime({.workers = 2}).run([] {
        sennit::fiber one({.name = "culprit"}, [] { throw std::runtime_error("x"); });
    }),
                 "sennit: \\[SNT-111\\] an exception left fiber 'culprit' .*, which was destroyed "
                 "without join");
    EXPECT_DEATH(
        sennit::runtime({.workers = 2}).run([] {
            sennit::fiber one([] { throw std::runtime_error("x"); });
            one = sennit::fiber([] {});
        }),
        "sennit: \\[SNT-111\\] an exception left fiber '' .*, which was destroyed without join");
}

TEST_F(fiber_death_test, fiber_that_destroys_its_own_handle_ends_program) {
    EXPECT_DEATH(sennit::runtime({.workers = 1}).run([] {
        sennit::fiber one;
        one = sennit::fiber([&] { one = sennit::fiber(); });
        one.join();
    }),
                 "sennit: \\[SNT-105\\] a fiber destroyed its own sennit::fiber object.*\\(fiber "
                 "[0-9]+, .*fiber\\.cpp");
}

// The test runs in its own process, because a join that took the address for the value could
// corrupt this process.
TEST_F(fiber_death_test, join_distinguishes_reference_from_value) {
    const auto told = [] {
        return sennit::runtime({.workers = 1}).run([] {
            static int value = 0;
            sennit::fiber one([]() -> int& { return value; });
            try {
                (void)one.join<int>();
                return false;
            } catch (const std::bad_cast&) {
                return &one.join<int&>() == &value;
            }
        });
    };
    EXPECT_EXIT(std::_Exit(told() ? 0 : 1), testing::ExitedWithCode(0), "");
}

} // namespace
