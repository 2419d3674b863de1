// SPDX-License-Identifier: Apache-2.0
// Tests the chains of par::view against hand-written loops.
#include "oracle.hpp"

#include <sennit/event.hpp>
#include <sennit/fiber.hpp>
#include <sennit/nursery.hpp>

#include <atomic>
#include <memory>
#include <numeric>
#include <stdexcept>

namespace {

namespace par = sennit::par;
namespace views = sennit::par::views;

TEST(par_view, steps_and_reductions_are_those_of_the_loop) {
    oracle::on_sizes([](std::size_t n) {
        const auto values = oracle::random_ints(n, 1000);
        long sum = 0;
        std::vector<std::string> texts;
        for (int value : values) {
            if (value % 3 != 0) continue;
            sum += 2 * value;
            texts.push_back(std::to_string(2 * value));
        }
        oracle::as_ranges(values, [&](auto&& range) {
            const auto chain = par::view({.max_grain = 50}, range) |
                               views::filter([](int v) { return v % 3 == 0; }) |
                               views::transform([](int v) { return 2L * v; });
            EXPECT_EQ(chain.sum(), sum);
            EXPECT_EQ(chain.count(), texts.size());
            EXPECT_EQ(chain.reduce(1.5), 1.5 + static_cast<double>(sum));
            const auto text = chain | views::transform([](long v) { return std::to_string(v); });
            EXPECT_EQ(text.collect(), texts);
            EXPECT_EQ(text.reduce(std::string("x")),
                      std::accumulate(texts.begin(), texts.end(), std::string("x")));
            std::atomic<long> visited{0};
            chain.for_each([&](long v) { visited += v; });
            EXPECT_EQ(visited.load(), sum);
        });
    });
}

TEST(par_view, elements_are_passed_by_reference) {
    on_workers([] {
        std::vector<std::unique_ptr<int>> boxes;
        for (int i = 0; i < 5000; ++i) boxes.push_back(std::make_unique<int>(i));
        (par::view(boxes) | views::filter([](const auto& box) {
             return *box % 2 == 0;
         })).for_each([](auto& box) { box.reset(); });
        EXPECT_EQ(std::ranges::count_if(boxes, [](const auto& box) { return !box; }), 2500);
    });
}

TEST(par_view, indices_and_pairs) {
    oracle::on_sizes([](std::size_t n) {
        const auto values = oracle::random_ints(n, 1000);
        std::vector<int> others(n / 2 + 1, 7);
        long dot = 0;
        long weighted = 0;
        for (std::size_t i = 0; i < n; ++i) {
            if (i < others.size()) dot += 7L * values[i];
            weighted += static_cast<long>(i) * values[i];
        }
        const auto product = views::transform(
            [](const auto& pair) { return static_cast<long>(pair.first) * pair.second; });
        EXPECT_EQ((par::view(values) | views::zip(others) | product).sum(), dot);
        const auto numbered = par::view({.max_grain = 20}, values) | views::enumerate();
        EXPECT_EQ((numbered | product).sum(), weighted);
        std::vector<std::pair<std::size_t, int>> pairs = numbered.collect();
        ASSERT_EQ(pairs.size(), n);
        for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(pairs[i], std::pair(i, values[i]));
        std::vector<long> out(n / 2, -1);
        EXPECT_EQ((numbered | product).into(out), out.end());
        for (std::size_t i = 0; i < out.size(); ++i)
            EXPECT_EQ(out[i], static_cast<long>(i) * values[i]);
    });
}

TEST(par_view, least_and_greatest_values) {
    on_workers([] {
        const auto values = oracle::random_ints(5000, 100);
        const auto keyed = par::view({.max_grain = 9}, values) | views::enumerate() |
                           views::filter([](const auto& p) { return p.second > 10; });
        const auto by_value = [](const auto& a, const auto& b) { return a.second < b.second; };
        const auto first = std::ranges::find(values, 11) - values.begin();
        EXPECT_EQ(keyed.min(by_value)->first, static_cast<std::size_t>(first));
        const auto last = std::find(values.rbegin(), values.rend(), 99).base() - values.begin() - 1;
        EXPECT_EQ(keyed.max(by_value)->first, static_cast<std::size_t>(last));
        EXPECT_FALSE((par::view(values) | views::filter([](int) { return false; })).min());
        EXPECT_EQ((par::view(values) | views::filter([](int) { return false; })).sum(), 0);
    });
}

// Views are kept, and nothing runs before the last step.
TEST(par_view, chains_are_lazy_and_keep_views) {
    on_workers([] {
        std::atomic<int> calls{0};
        const auto chain = par::view(std::views::iota(0, 1000)) | views::transform([&](int v) {
                               ++calls;
                               return v;
                           });
        EXPECT_EQ(calls.load(), 0);
        EXPECT_EQ(chain.sum(), 499'500);
        EXPECT_EQ(calls.load(), 1000);
        EXPECT_EQ(chain.sum(), 499'500);
    });
}

TEST(par_view, exception_of_the_lowest_element_arrives) {
    on_workers([] {
        const auto values = std::views::iota(0, 50'000);
        for (int bad : {0, 77, 49'999}) {
            const auto chain = par::view(values) | views::transform(oracle::throws_from(bad));
            EXPECT_EQ(oracle::error_of([&] { (void)chain.sum(); }), std::to_string(bad));
            EXPECT_EQ(oracle::error_of([&] { (void)chain.collect(); }), std::to_string(bad));
        }
    });
}

TEST(par_view, functions_may_block_and_cancellation_ends_the_loop) {
    on_workers([] {
        sennit::event opened;
        sennit::fiber opener([&] { opened.set(); });
        const auto values = std::views::iota(0, 3000);
        EXPECT_EQ((par::view(values) | views::filter([&](int v) {
                       if (v == 100) opened.wait();
                       return true;
                   })).count(),
                  3000u);
        opener.join();
        bool threw = false;
        sennit::nursery jobs;
        jobs.start([&] {
            std::atomic<int> calls{0};
            const auto many = par::view({.max_grain = 10}, std::views::iota(0, 100'000));
            try {
                (void)(many | views::transform([&](int v) {
                           if (++calls >= 500) jobs.cancel();
                           return v;
                       }))
                    .sum();
            } catch (const sennit::cancelled&) {
                threw = true;
            }
        });
        jobs.join();
        EXPECT_TRUE(threw);
    });
}

} // namespace
