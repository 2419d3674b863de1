// SPDX-License-Identifier: Apache-2.0
// Tests fork_each, fork_reduce and checkpoint.
#include "workers.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>

namespace {

class fork_each : public with_workers {};
SENNIT_FOR_WORKERS(fork_each);
class fork_reduce : public with_workers {};
SENNIT_FOR_WORKERS(fork_reduce);

unsigned long burn(std::size_t rounds) {
    unsigned long x = 1;
    for (std::size_t i = 0; i < rounds; ++i) x = x * 6364136223846793005u + 1442695040888963407u;
    return x;
}

TEST_P(fork_each, function_is_called_once_per_index_for_every_count) {
    for (std::size_t count : {0u, 1u, 2u, 3u, 10u, 1000u}) {
        std::vector<std::atomic<int>> calls(count);
        runtime.run([&] {
            sennit::fork_each(count, [&](std::size_t i) {
                burn(i % 7 * 100);
                ++calls[i];
            });
        });
        for (auto& one : calls) EXPECT_EQ(one, 1);
    }
}

TEST_P(fork_each, every_form_returns_results_in_order) {
    runtime.run([] {
        const auto square = [](std::size_t i) { return static_cast<int>(i * i); };
        const std::array<int, 5> five = sennit::fork_each<5>(square);
        EXPECT_EQ(five, (std::array<int, 5>{0, 1, 4, 9, 16}));
        const std::vector<int> six = sennit::fork_each(6, square);
        EXPECT_EQ(six, (std::vector<int>{0, 1, 4, 9, 16, 25}));
        std::vector<int> out(3);
        sennit::fork_each(3, square, out.begin());
        EXPECT_EQ(out, (std::vector<int>{0, 1, 4}));
        std::vector<std::string> words = {"a", "bb", "ccc"};
        EXPECT_EQ(sennit::fork_each(words, [](std::string& s) { return s + s; }),
                  (std::vector<std::string>{"aa", "bbbb", "cccccc"}));
        auto pointers =
            sennit::fork_each<3>([](std::size_t i) { return std::make_unique<std::size_t>(i); });
        EXPECT_EQ(*pointers[2], 2u);
        EXPECT_EQ(sennit::fork_each(4, [](std::size_t i) { return i % 2 == 0; }),
                  (std::vector<bool>{true, false, true, false}));
    });
}

TEST_P(fork_each, exception_of_lowest_failing_range_is_thrown_after_all_calls) {
    for (std::size_t failing : {0u, 1u, 17u, 99u}) {
        std::atomic<int> inside{0};
        EXPECT_THROW(runtime.run([&] {
            sennit::fork_each(100, [&](std::size_t i) {
                ++inside;
                burn(200);
                --inside;
                if (i == failing) throw std::runtime_error("x");
            });
        }),
                     std::runtime_error);
        EXPECT_EQ(inside, 0);
    }
}

TEST_P(fork_each, fork_each_nests) {
    const auto total = runtime.run([] {
        std::atomic<long> sum{0};
        sennit::fork_each(30, [&](std::size_t i) {
            sennit::fork_each(30, [&](std::size_t j) { sum += static_cast<long>(i * j); });
        });
        return sum.load();
    });
    EXPECT_EQ(total, 435 * 435);
}

TEST_P(fork_reduce, noncommutative_operation_keeps_order) {
    for (std::size_t count : {0u, 1u, 2u, 7u, 200u}) {
        std::string expected = ">";
        for (std::size_t i = 0; i < count; ++i) expected += std::to_string(i) + ",";
        const auto text = runtime.run([&] {
            return sennit::fork_reduce(count, std::string(">"), std::plus<>{}, [](std::size_t i) {
                burn(i * 20);
                return std::to_string(i) + ",";
            });
        });
        EXPECT_EQ(text, expected);
    }
}

TEST_P(fork_reduce, exceptions_of_transform_and_reduce_are_thrown) {
    for (std::size_t failing : {0u, 5u, 49u})
        EXPECT_THROW(runtime.run([&] {
            return sennit::fork_reduce(50, 0L, std::plus<>{}, [&](std::size_t i) {
                if (i == failing) throw std::runtime_error("x");
                return static_cast<long>(burn(100) % 7);
            });
        }),
                     std::runtime_error);
    EXPECT_THROW(runtime.run([] {
        return sennit::fork_reduce(
            10, 0L, // 7 is an operand in every grouping.
            [](long a, long b) -> long {
                return a == 7 || b == 7 ? throw std::logic_error("y") : a + b;
            },
            [](std::size_t i) { return static_cast<long>(i); });
    }),
                 std::logic_error);
}

TEST(families_outside, families_run_on_default_runtime) {
    EXPECT_EQ(sennit::fork_reduce(11, 0L, std::plus<>{},
                                  [](std::size_t i) { return static_cast<long>(i); }),
              55);
    EXPECT_EQ(sennit::fork_each(3, [](std::size_t i) { return i; }),
              (std::vector<std::size_t>{0, 1, 2}));
}

// The owner forks and then stays in a leaf that ends only when a fork has run. Another worker must
// get that fork.
TEST(forced_publication, forks_are_taken_from_worker_in_long_leaf) {
    sennit::runtime runtime({.workers = 2});
    for (int round = 0; round < 20; ++round) {
        std::atomic<bool> inner{false}, outer{false};
        runtime.run([&] {
            sennit::fork_join(
                [&] {
                    sennit::fork_join(
                        [&] {
                            while (!inner || !outer) std::this_thread::yield();
                        },
                        [&] { inner = true; });
                },
                [&] { outer = true; });
        });
        EXPECT_TRUE(inner && outer);
    }
}

TEST(checkpoint, checkpoint_shares_forks_and_is_harmless_elsewhere) {
    sennit::checkpoint(); // The calling thread is not a worker.
    sennit::runtime runtime({.workers = 2});
    std::atomic<bool> done{false};
    runtime.run([&] {
        sennit::fork_join(
            [&] {
                while (!done) sennit::checkpoint();
            },
            [&] { done = true; });
    });
    EXPECT_TRUE(done);
}

} // namespace
