// SPDX-License-Identifier: Apache-2.0
// Generators, stackless and stackful.
#include <sennit/generator.hpp>
#include <sennit/stackful_generator.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

static_assert(std::ranges::input_range<sennit::generator<int>> &&
              std::ranges::view<sennit::generator<int>>);
static_assert(std::ranges::input_range<sennit::stackful_generator<int>>);

sennit::generator<int> counting(int n) {
    for (int i = 0; i < n; ++i) co_yield i;
}

TEST(generator, generator_gives_the_yielded_values) {
    std::vector<int> seen;
    for (int each : counting(4)) seen.push_back(each);
    EXPECT_EQ(seen, (std::vector{0, 1, 2, 3}));
}

TEST(generator, generator_is_a_view) {
    int sum = 0;
    for (int each :
         counting(100) | std::views::filter([](int i) { return i % 2 == 0; }) | std::views::take(3))
        sum += each;
    EXPECT_EQ(sum, 0 + 2 + 4);
}

sennit::generator<int> down(int depth) {
    if (depth == 0) co_return;
    co_yield sennit::elements_of(down(depth - 1));
    co_yield depth;
}

TEST(generator, generator_yields_elements_of_nested_generators_at_any_depth) {
    int next = 0;
    for (int each : down(1000)) EXPECT_EQ(each, ++next);
    EXPECT_EQ(next, 1000);
}

sennit::generator<int> of_a_vector() {
    const std::vector<int> some{1, 2, 3};
    co_yield sennit::elements_of(some);
    co_yield 4;
}

TEST(generator, generator_yields_elements_of_ranges) {
    std::vector<int> seen;
    for (int each : of_a_vector()) seen.push_back(each);
    EXPECT_EQ(seen, (std::vector{1, 2, 3, 4}));
}

sennit::generator<int> failing(int after) {
    for (int i = 0; i < after; ++i) co_yield i;
    throw std::runtime_error("no more");
}
sennit::generator<int> catching() {
    bool caught = false;
    try {
        co_yield sennit::elements_of(failing(2));
    } catch (const std::runtime_error&) {
        caught = true;
    }
    if (caught) co_yield 100;
}

TEST(generator, exception_of_generator_comes_out_of_the_step) {
    auto one = failing(1);
    auto at = one.begin();
    EXPECT_EQ(*at, 0);
    EXPECT_THROW(++at, std::runtime_error);
    EXPECT_TRUE(at == one.end());
}

TEST(generator, exception_of_inner_generator_comes_out_where_it_is_yielded) {
    std::vector<int> seen;
    for (int each : catching()) seen.push_back(each);
    EXPECT_EQ(seen, (std::vector{0, 1, 100}));
}

sennit::generator<std::unique_ptr<int>> owned() {
    co_yield std::make_unique<int>(5);
}
sennit::generator<const std::string&> texts(const std::vector<std::string>& from) {
    for (const std::string& each : from) co_yield each;
}

TEST(generator, generator_yields_by_reference_and_lets_values_be_moved_out) {
    for (std::unique_ptr<int> each : owned()) EXPECT_EQ(*each, 5);
    const std::vector<std::string> some{"a", "b"};
    auto all = texts(some);
    EXPECT_EQ(&*all.begin(), &some[0]);
}

TEST(generator, destroyed_generator_destroys_its_variables) {
    const auto alive = std::make_shared<int>(0);
    {
        auto one = [](std::shared_ptr<int> held) -> sennit::generator<int> {
            for (;;) co_yield *held;
        }(alive);
        EXPECT_EQ(*one.begin(), 0);
        EXPECT_EQ(alive.use_count(), 2);
    }
    EXPECT_EQ(alive.use_count(), 1);
}

struct shape {
    virtual ~shape() = default;
    virtual int corners() const = 0;
};
struct square : shape {
    int corners() const override { return 4; }
};
sennit::generator<const shape&> as_shapes(const std::vector<square>& all) {
    co_yield sennit::elements_of(all);
}
sennit::generator<std::unique_ptr<int>&> in_place(std::vector<std::unique_ptr<int>>& all) {
    co_yield sennit::elements_of(all);
}
template <class Promise>
concept yields_numbers =
    requires(Promise p) { p.yield_value(sennit::elements_of(std::views::iota(0, 1))); };
static_assert(!yields_numbers<sennit::generator<int&>::promise_type> &&
              yields_numbers<sennit::generator<int>::promise_type>);

TEST(generator, generator_yields_uncopyable_elements_in_place) {
    const std::vector<square> squares(3);
    int corners = 0;
    for (const shape& each : as_shapes(squares)) corners += each.corners();
    EXPECT_EQ(corners, 12);
    std::vector<std::unique_ptr<int>> all;
    all.push_back(std::make_unique<int>(1));
    for (std::unique_ptr<int>& each : in_place(all)) each = std::make_unique<int>(2);
    EXPECT_EQ(*all.front(), 2);
}

TEST(generator_death, generator_that_was_begun_or_moved_from_has_no_elements) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto outer = [](sennit::generator<int>& inner) -> sennit::generator<int> {
        co_yield sennit::elements_of(inner);
    };
    EXPECT_DEATH(
        {
            auto begun = counting(3);
            (void)begun.begin();
            (void)outer(begun).begin();
        },
        "\\[SNT-313\\] elements_of was given a generator that was begun or moved from");
    EXPECT_DEATH(
        {
            auto one = counting(3);
            auto taken = std::move(one);
            (void)outer(one).begin();
        },
        "\\[SNT-313\\] elements_of was given a generator that was begun or moved from");
    EXPECT_DEATH(
        {
            sennit::stackful_generator<int> one([](auto& yield) { yield(1); });
            (void)one.begin();
            (void)one.begin();
        },
        "\\[SNT-314\\] begin\\(\\) was called twice on a generator");
}

void walk(int depth, sennit::yielder<int>& yield) {
    if (depth == 0) return;
    walk(depth - 1, yield);
    yield(depth);
    walk(depth - 1, yield);
}

TEST(stackful_generator, stackful_generator_yields_from_a_recursion) {
    std::vector<int> seen;
    for (int each : sennit::stackful_generator<int>([](auto& yield) { walk(3, yield); }))
        seen.push_back(each);
    EXPECT_EQ(seen, (std::vector{1, 2, 1, 3, 1, 2, 1}));
}

TEST(stackful_generator, stackful_generator_may_be_left_early_and_may_throw) {
    {
        sennit::stackful_generator<int> endless([](auto& yield) {
            for (int i = 0;; ++i) yield(i);
        });
        int last = 0;
        for (int each : std::move(endless) | std::views::take(5)) last = each;
        EXPECT_EQ(last, 4);
    }
    sennit::stackful_generator<int> bad([](auto& yield) {
        yield(1);
        throw std::runtime_error("x");
    });
    auto at = bad.begin();
    EXPECT_THROW(++at, std::runtime_error);
    EXPECT_TRUE(at == bad.end());
}

} // namespace
