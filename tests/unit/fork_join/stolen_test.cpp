// SPDX-License-Identifier: Apache-2.0
// Tests forks that another worker certainly takes. The callables of a fork meet, which is possible
// only if each callable has its own worker.
#include "workers.hpp"

#include <array>
#include <latch>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

class stolen : public with_workers {
protected:
    // Runs all callables at the same time on different workers. Each callable begins only when all
    // have arrived.
    template <class... F>
    auto meet(F... functions) {
        std::latch meeting(sizeof...(F));
        return runtime.run([&] {
            return sennit::fork_join([&meeting, &functions]() -> std::invoke_result_t<F&> {
                meeting.arrive_and_wait();
                return functions();
            }...);
        });
    }
};
INSTANTIATE_TEST_SUITE_P(workers, stolen, testing::Values(2u, 3u, 8u), [](const auto& test) {
    return std::string(1, 'w').append(std::to_string(test.param));
});

struct failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

TEST_P(stolen, stolen_callable_returns_values_of_every_kind) {
    int x = 1, y = 2;
    auto [a, b] =
        meet([] { return std::make_unique<int>(1); }, [] { return std::make_unique<int>(2); });
    EXPECT_EQ(*a + *b, 3);
    auto [c, d] = meet([] {}, [] { return std::string(100, 'x'); });
    static_assert(std::is_same_v<decltype(c), std::monostate>);
    EXPECT_EQ(d, std::string(100, 'x'));
    auto [e, f] = meet([&]() -> int& { return x; }, [&]() -> int& { return y; });
    EXPECT_EQ(&e, &x);
    EXPECT_EQ(&f, &y);
    auto [g, h] =
        meet([&]() -> int&& { return std::move(x); }, [&]() -> int&& { return std::move(y); });
    static_assert(std::is_same_v<decltype(h), int&&>);
    EXPECT_EQ(&static_cast<const int&>(g), &x);
    EXPECT_EQ(&static_cast<const int&>(h), &y);
    auto [i, j] =
        meet([] { return std::array<long, 40>{1}; }, [] { return std::array<long, 40>{2}; });
    EXPECT_EQ(i[0] + j[0], 3);
}

TEST_P(stolen, exception_of_stolen_callable_is_thrown) {
    EXPECT_THROW(meet([] { return 1; }, []() -> int { throw failure("second"); }), failure);
    EXPECT_THROW(
        meet([] { return std::string(50, 'x'); }, []() -> std::string { throw failure("second"); }),
        failure);
}

TEST_P(stolen, first_exception_is_thrown_and_stolen_result_is_dropped) {
    auto watched = std::make_shared<int>(0);
    using large = std::pair<std::shared_ptr<int>, std::array<long, 40>>;
    EXPECT_THROW(meet([]() -> int { throw failure("first"); }, [&] { return watched; }), failure);
    EXPECT_EQ(watched.use_count(), 1);
    EXPECT_THROW(meet([]() -> int { throw failure("first"); }, [&] { return large(watched, {}); }),
                 failure);
    EXPECT_EQ(watched.use_count(), 1);
}

TEST_P(stolen, first_of_two_exceptions_is_thrown) {
    try {
        meet([] { throw failure("first"); }, [] { throw failure("second"); });
        FAIL() << "no exception";
    } catch (const failure& error) {
        EXPECT_STREQ(error.what(), "first");
    }
}

TEST_P(stolen, three_callables_run_on_three_workers) {
    if (GetParam() < 3) return;
    auto [a, b, c] = meet([] { return 1; }, [] { return 2; }, [] { return 3; });
    EXPECT_EQ(a + b + c, 6);
    for (int failing = 0; failing < 3; ++failing) {
        const auto body = [&](int me) {
            return [=] {
                if (me == failing) throw failure("x");
                return me;
            };
        };
        EXPECT_THROW(meet(body(0), body(1), body(2)), failure);
    }
}

TEST_P(stolen, fork_each_uses_all_workers) {
    const std::size_t count = GetParam();
    std::latch meeting(static_cast<std::ptrdiff_t>(count));
    const auto squares = runtime.run([&] {
        return sennit::fork_each(count, [&](std::size_t i) {
            meeting.arrive_and_wait();
            return i * i;
        });
    });
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(squares[i], i * i);
}

TEST_P(stolen, exception_of_any_stolen_call_is_thrown) {
    const std::size_t count = GetParam();
    for (std::size_t failing = 0; failing < count; ++failing) {
        std::latch meeting(static_cast<std::ptrdiff_t>(count));
        EXPECT_THROW(runtime.run([&] {
            sennit::fork_each(count, [&](std::size_t i) {
                meeting.arrive_and_wait();
                if (i == failing) throw failure("x");
            });
        }),
                     failure);
    }
}

TEST_P(stolen, fork_reduce_uses_all_workers) {
    const std::size_t count = GetParam();
    std::latch meeting(static_cast<std::ptrdiff_t>(count));
    const auto sum = runtime.run([&] {
        return sennit::fork_reduce(count, std::size_t{0}, std::plus<>(), [&](std::size_t i) {
            meeting.arrive_and_wait();
            return i;
        });
    });
    EXPECT_EQ(sum, count * (count - 1) / 2);
}

TEST_P(stolen, children_of_several_scopes_are_stolen) {
    // One context has two scopes and joins the younger scope first. The child of the older scope
    // meets the body, so another worker must have taken that child.
    runtime.run([&] {
        std::latch meeting(2);
        int left = 0, right = 0;
        sennit::scope older;
        older.spawn([&] {
            meeting.arrive_and_wait();
            left = 1;
        });
        {
            sennit::scope younger;
            younger.spawn([&] { right = 1; });
            younger.join();
        }
        EXPECT_EQ(right, 1);
        meeting.arrive_and_wait();
        older.join();
        EXPECT_EQ(left, 1);
    });
}

TEST_P(stolen, failure_of_one_scope_does_not_reach_another) {
    runtime.run([&] {
        std::latch meeting(2);
        sennit::scope older;
        bool ran = false;
        older.spawn([&] {
            meeting.arrive_and_wait();
            ran = true;
        });
        sennit::scope younger;
        younger.spawn([] { throw failure("younger"); });
        EXPECT_THROW(younger.join(), failure);
        meeting.arrive_and_wait();
        older.join();
        EXPECT_TRUE(ran);
        EXPECT_FALSE(older.get_stop_token().stop_requested());
    });
}

} // namespace
