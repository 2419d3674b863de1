// SPDX-License-Identifier: Apache-2.0
// Bugs of fork-join that a reading has found, with the smallest program of each.
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <stop_token>
#include <thread>

namespace {

// The owner that ran an index itself did not convert the result of `transform`, and a thief did.
TEST(regress, fork_reduce_converts_the_result_of_transform) {
    const auto halves = [](std::size_t i) { return i % 2 != 0 ? -0.5 : 1.5; };
    for (int i = 0; i < 50; ++i)
        EXPECT_EQ(sennit::run([&] { return sennit::fork_reduce(40, 0, std::plus<>(), halves); }),
                  20);
    EXPECT_EQ(sennit::fork_reduce(1, 0, std::plus<>(), [](std::size_t) { return 0.5; }), 0);
}

struct summand {
    long value = 0;
    summand(long v) : value(v) {}
    summand plus(summand other) const { return {value + other.value}; }
};
TEST(regress, fork_reduce_invokes_pointers_to_members) {
    EXPECT_EQ(sennit::fork_reduce(5, summand(1), &summand::plus,
                                  [](std::size_t i) { return summand(static_cast<long>(i)); })
                  .value,
              11);
}

// Callables and results that are trivially copyable but must not be copied: these programs did not
// compile.
struct counter {
    std::atomic<int> calls{0};
    void operator()() { ++calls; }
    void operator()(std::size_t) { ++calls; }
};
struct only_moved {
    explicit only_moved(int n) noexcept : number(n) {}
    only_moved(const only_moved&) = delete;
    only_moved(only_moved&&) noexcept = default;
    only_moved& operator=(only_moved&&) noexcept = default;
    int number;
};
struct copied_by_name {
    copied_by_name() = default;
    explicit copied_by_name(const copied_by_name&) = default;
    copied_by_name(copied_by_name&&) = default;
    int operator()() const { return 1; }
    int operator()(std::size_t) const { return 1; }
};
struct copied_when_not_const {
    copied_when_not_const() = default;
    copied_when_not_const(copied_when_not_const&) = default;
    copied_when_not_const(const copied_when_not_const&) = delete;
    int operator()() { return 1; }
    int operator()(std::size_t) { return 1; }
};
struct not_assigned {
    int number;
    not_assigned() = default;
    not_assigned(not_assigned&&) = default;
};
template <class F>
int calls_of(F callable) {
    const auto [a, b] = sennit::fork_join(callable, callable);
    int sum = a + b;
    for (const int one : sennit::fork_each(3, callable)) sum += one;
    for (const int one : sennit::fork_each<2>(callable)) sum += one;
    return sum + sennit::fork_reduce(4, 0, std::plus<>(), callable);
}
TEST(regress, callables_with_unusual_copy_constructors_compile) {
    EXPECT_EQ(calls_of(copied_by_name()), 11);
    EXPECT_EQ(calls_of(copied_when_not_const()), 11);
    const auto made = [](std::size_t i) {
        not_assigned one;
        one.number = static_cast<int>(i);
        return one;
    };
    EXPECT_EQ(sennit::fork_each(3, made)[2].number, 2);
    EXPECT_EQ(sennit::fork_each<3>(made)[2].number, 2);
}
TEST(regress, callables_and_results_need_not_be_copied) {
    counter all;
    sennit::fork_join(all, all);
    sennit::fork_each(10, all);
    sennit::par::for_each_n(10, all);
    EXPECT_EQ(all.calls, 22);
    const auto [a, b] =
        sennit::fork_join([] { return only_moved(3); }, [] { return only_moved(4); });
    EXPECT_EQ(a.number + b.number, 7);
    const auto together = [](only_moved x, only_moved y) {
        return only_moved(x.number + y.number);
    };
    EXPECT_EQ(sennit::fork_reduce(4, only_moved(1), together,
                                  [](std::size_t i) { return only_moved(static_cast<int>(i)); })
                  .number,
              7);
}

// The default runtime used its lock after the memory of the lock was freed.
struct late {
    ~late() {
        sennit::run([] {});
    }
};
TEST(regress, default_runtime_is_made_again_for_objects_destroyed_after_it) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(
        {
            static const late destroyed_last;
            sennit::run([] {});
            std::exit(3);
        },
        testing::ExitedWithCode(3), "");
}

// A callback ran under the lock of the scope whose children it asked about.
TEST(regress, scope_requests_stop_without_its_lock) {
    for (int i = 0; i < 200; ++i) {
        sennit::run([] {
            sennit::scope family;
            std::jthread stops([&] { family.request_stop(); });
            std::stop_callback asks_back(family.get_stop_token(),
                                         [&] { (void)family.get_stop_token(); });
            stops.join();
            family.join();
        });
    }
}

// The address of a stolen child's result came from the result's own `operator&`.
struct shy_result {
    int value;
    shy_result* operator&() { return nullptr; }
};
TEST(regress, results_with_an_address_operator_of_their_own_come_back) {
    sennit::runtime two({.workers = 2});
    two.run([] {
        for (int i = 0; i < 200; ++i) {
            std::atomic<bool> other{false};
            // Runs until a thief has taken the other fork.
            auto [a, b] = sennit::fork_join(
                [&] {
                    for (int looks = 0; !other && looks < 100'000; ++looks) sennit::checkpoint();
                    return shy_result{1};
                },
                [&] {
                    other = true;
                    return shy_result{2};
                });
            ASSERT_EQ(a.value + b.value, 3);
        }
        EXPECT_EQ(sennit::fork_reduce(
                      1000, shy_result{0},
                      [](shy_result x, shy_result y) { return shy_result{x.value + y.value}; },
                      [](std::size_t j) { return shy_result{static_cast<int>(j)}; })
                      .value,
                  499'500);
    });
}

// The end of the default runtime waited for the helper thread that had called it.
TEST(regress_death, exit_inside_of_blocking_ends_the_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(sennit::run([] { sennit::blocking([] { std::exit(7); }); }),
                testing::ExitedWithCode(7), "");
}

} // namespace
