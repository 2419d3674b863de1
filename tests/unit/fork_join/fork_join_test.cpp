// SPDX-License-Identifier: Apache-2.0
// Tests sennit::fork_join: results, exceptions, nesting, and calls from any thread.
#include "workers.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

class fork_join : public with_workers {};
SENNIT_FOR_WORKERS(fork_join);

long fib(int n) {
    if (n < 2) return n;
    auto [a, b] = sennit::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
    return a + b;
}

std::atomic<int> alive{0};
struct counted {
    int value;
    explicit counted(int v) : value(v) { ++alive; }
    counted(const counted& other) : value(other.value) { ++alive; }
    counted(counted&& other) noexcept : value(other.value) { ++alive; }
    ~counted() { --alive; }
};

TEST_P(fork_join, recursion_computes_result) {
    EXPECT_EQ(runtime.run([] { return fib(22); }), 17711);
}

TEST_P(fork_join, results_are_returned_in_order) {
    runtime.run([] {
        auto [a, b, c, d, e] =
            sennit::fork_join([] { return 1; }, [] { return std::string(100, 'x'); },
                              [] { return 2.5; }, [] { return 'c'; }, [] { return 5L; });
        EXPECT_EQ(a, 1);
        EXPECT_EQ(b, std::string(100, 'x'));
        EXPECT_EQ(c, 2.5);
        EXPECT_EQ(d, 'c');
        EXPECT_EQ(e, 5L);
    });
}

TEST_P(fork_join, void_callable_yields_monostate_and_all_void_yields_void) {
    runtime.run([] {
        int ran = 0;
        auto [a, b] = sennit::fork_join([&] { ran = 1; }, [] { return 7; });
        static_assert(std::is_same_v<decltype(a), std::monostate>);
        EXPECT_EQ(b, 7);
        EXPECT_EQ(ran, 1);
        static_assert(std::is_void_v<decltype(sennit::fork_join([] {}, [] {}))>);
    });
}

TEST_P(fork_join, references_are_passed_through) {
    runtime.run([] {
        int x = 1, y = 2;
        auto [a, b] = sennit::fork_join([&]() -> int& { return x; }, [&]() -> int& { return y; });
        EXPECT_EQ(&a, &x);
        EXPECT_EQ(&b, &y);
    });
}

TEST_P(fork_join, move_only_results_and_closures_work) {
    runtime.run([] {
        auto p = std::make_unique<int>(3);
        auto [a, b] = sennit::fork_join([] { return std::make_unique<int>(1); },
                                        [p = std::move(p)] { return std::make_unique<int>(*p); });
        EXPECT_EQ(*a, 1);
        EXPECT_EQ(*b, 3);
    });
}

TEST_P(fork_join, large_and_over_aligned_closures_and_results_work) {
    runtime.run([] {
        struct alignas(128) wide {
            std::array<long, 40> values{};
        };
        wide in;
        in.values[39] = 42;
        for (int round = 0; round < 100; ++round) {
            auto [a, b] = sennit::fork_join([in] { return in; },
                                            [in]() mutable {
                                                in.values[0] = 1;
                                                return in;
                                            });
            EXPECT_EQ(a.values[39], 42);
            EXPECT_EQ(b.values[0] + b.values[39], 43);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&b) % 128, 0u);
        }
    });
}

TEST_P(fork_join, first_callable_runs_immediately_in_calling_thread) {
    runtime.run([] {
        const auto here = std::this_thread::get_id();
        sennit::fork_join([&] { EXPECT_EQ(std::this_thread::get_id(), here); }, [] {});
    });
}

TEST_P(fork_join, exception_of_failed_callable_is_thrown) {
    for (int failing = 0; failing < 3; ++failing) {
        const auto body = [&](int me) {
            return [=] {
                if (me == failing) throw std::runtime_error(std::to_string(me));
                return counted(me);
            };
        };
        try {
            runtime.run([&] { sennit::fork_join(body(0), body(1), body(2)); });
            FAIL() << "no exception";
        } catch (const std::runtime_error& error) {
            EXPECT_EQ(error.what(), std::to_string(failing));
        }
        EXPECT_EQ(alive, 0);
    }
}

TEST_P(fork_join, exception_of_first_callable_is_thrown_if_all_fail) {
    for (int round = 0; round < 200; ++round) try {
            runtime.run([] {
                sennit::fork_join([]() -> int { throw std::runtime_error("first"); },
                                  [c = counted(1)]() -> int { throw std::logic_error("second"); },
                                  []() -> counted { throw 3; });
            });
            FAIL() << "no exception";
        } catch (const std::runtime_error& error) {
            EXPECT_STREQ(error.what(), "first");
        }
    EXPECT_EQ(alive, 0);
}

long failing_tree(int depth, unsigned& seed) {
    if (depth == 0) {
        if (++seed % 97 == 0) throw std::runtime_error("leaf");
        return 1;
    }
    unsigned left = seed * 31 + 1, right = seed * 17 + 2;
    const counted guard(depth);
    auto [a, b] = sennit::fork_join([&] { return failing_tree(depth - 1, left); },
                                    [&] { return failing_tree(depth - 1, right); });
    return a + b;
}

TEST_P(fork_join, unwinding_trees_destroys_all_objects) {
    int thrown = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
        unsigned start = seed;
        try {
            runtime.run([&] { return failing_tree(7, start); });
        } catch (const std::runtime_error&) {
            ++thrown;
        }
        ASSERT_EQ(alive, 0);
    }
    EXPECT_GT(thrown, 0);
}

int nested(int depth) {
    if (depth == 0) return 0;
    auto [a, b] = sennit::fork_join([=] { return nested(depth - 1); }, [] { return 1; });
    return a + b;
}

TEST_P(fork_join, fork_join_nests_thousands_deep) {
    EXPECT_EQ(runtime.run([] { return nested(5000); }), 5000);
}

TEST_P(fork_join, worker_calls_into_another_runtime) {
    sennit::runtime other({.workers = 2});
    const long result = runtime.run([&] {
        auto [a, b] = sennit::fork_join([&] { return other.run([] { return fib(15); }); },
                                        [] { return fib(15); });
        return a + b;
    });
    EXPECT_EQ(result, 2 * 610);
}

TEST(fork_join_outside, any_thread_forks_on_default_runtime) {
    std::array<std::thread, 4> threads;
    std::atomic<long> sum{0};
    for (auto& one : threads)
        one = std::thread([&] {
            auto [a, b] = sennit::fork_join([] { return fib(15); }, [] { return fib(16); });
            sum += a + b;
        });
    for (auto& one : threads) one.join();
    EXPECT_EQ(sum, 4 * (610 + 987));
    EXPECT_THROW(sennit::fork_join([] { throw std::runtime_error("x"); }, [] {}),
                 std::runtime_error);
}

} // namespace
