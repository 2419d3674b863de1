// SPDX-License-Identifier: Apache-2.0
// Tests par::inclusive_scan, exclusive_scan and copy_if against their serial forms.
#include "oracle.hpp"

#include <sennit/event.hpp>
#include <sennit/fiber.hpp>
#include <sennit/nursery.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>

namespace {

namespace par = sennit::par;

TEST(par_scan, sums_equal_those_of_serial_forms) {
    oracle::on_sizes([](std::size_t n) {
        const auto values = oracle::random_ints(n, 1000);
        oracle::as_ranges(values, [&](auto&& range) {
            std::vector<long> out(n);
            std::vector<long> expected(n);
            const auto result = par::inclusive_scan(range, out);
            EXPECT_EQ(result.in, range.end());
            EXPECT_EQ(result.out, out.end());
            std::inclusive_scan(values.begin(), values.end(), expected.begin());
            EXPECT_EQ(out, expected);
            par::exclusive_scan(range, out, 5L);
            std::exclusive_scan(values.begin(), values.end(), expected.begin(), 5L);
            EXPECT_EQ(out, expected);
            par::inclusive_scan(range.begin(), range.end(), out.begin(), out.end(), std::plus<>(),
                                7L);
            std::inclusive_scan(values.begin(), values.end(), expected.begin(), std::plus<>(), 7L);
            EXPECT_EQ(out, expected);
        });
    });
}

// HPX: scan_non_commutative and scan_different_inits. The operation yields, so that workers run
// ahead of the prefix.
TEST(par_scan, non_commutative_operation_keeps_order_and_applies_init_once) {
    on_workers([] {
        for (std::size_t n : {1u, 2u, 5u, 700u}) {
            const auto values = oracle::random_ints(n, 10);
            std::vector<std::string> digits;
            for (int value : values) digits.push_back(std::to_string(value));
            const auto append = [](const std::string& a, const std::string& b) {
                oracle::yield_at(a.size());
                return a + b;
            };
            std::vector<std::string> out(n);
            std::vector<std::string> expected(n);
            par::inclusive_scan({.max_grain = 7}, digits, out, append);
            std::inclusive_scan(digits.begin(), digits.end(), expected.begin(), append);
            EXPECT_EQ(out, expected);
            par::exclusive_scan({.max_grain = 7}, digits, out, std::string("i"), append);
            std::exclusive_scan(digits.begin(), digits.end(), expected.begin(), std::string("i"),
                                append);
            EXPECT_EQ(out, expected);
        }
    });
}

// LLVM issue 59810: the exclusive scan in place read elements that it had overwritten.
TEST(par_scan, scans_work_in_place) {
    oracle::on_sizes([](std::size_t n) {
        const auto values = oracle::random_ints(n, 1000);
        std::vector<int> expected(n);
        auto exclusive = values;
        par::exclusive_scan(exclusive, exclusive, 3);
        std::exclusive_scan(values.begin(), values.end(), expected.begin(), 3);
        EXPECT_EQ(exclusive, expected);
        auto inclusive = values;
        par::inclusive_scan(inclusive, inclusive);
        std::inclusive_scan(values.begin(), values.end(), expected.begin());
        EXPECT_EQ(inclusive, expected);
    });
}

TEST(par_scan, output_beyond_bound_stays_untouched) {
    on_workers([] {
        const auto values = oracle::random_ints(5000, 1000);
        std::vector<int> out(5000, -1);
        const auto result = par::inclusive_scan(values, std::span(out).first(1234));
        EXPECT_EQ(result.in - values.begin(), 1234);
        EXPECT_EQ(std::ranges::count(out, -1), 5000 - 1234);
    });
}

TEST(par_scan, operation_may_block) {
    on_workers([] {
        sennit::event opened;
        sennit::fiber opener([&] { opened.set(); });
        const auto values = std::views::iota(0, 3000);
        std::vector<long> out(3000);
        par::inclusive_scan(values, out, [&](long a, long b) {
            if (b == 100) opened.wait();
            return a + b;
        });
        EXPECT_EQ(out.back(), 2999L * 1500);
        opener.join();
    });
}

TEST(par_scan, error_of_operation_ends_the_scan) {
    on_workers([] {
        const auto values = std::views::iota(0, 100'000);
        std::vector<long> out(100'000);
        for (long bad : {1L, 333L, 99'999L}) {
            const auto text = oracle::error_of([&] {
                par::inclusive_scan(values, out, [&](long a, long b) {
                    if (b == bad) throw std::runtime_error("stop");
                    return a + b;
                });
            });
            EXPECT_EQ(text, "stop");
            EXPECT_EQ(out[0], 0);
        }
    });
}

TEST(par_scan, cancelled_scan_throws) {
    on_workers([] {
        bool threw = false;
        sennit::nursery jobs;
        jobs.start([&] {
            std::atomic<int> calls{0};
            const auto values = std::views::iota(0, 1'000'000);
            std::vector<long> out(1'000'000);
            try {
                par::inclusive_scan({.max_grain = 100}, values, out, [&](long a, long b) {
                    if (++calls >= 1000) jobs.cancel();
                    return a + b;
                });
            } catch (const sennit::cancelled&) {
                threw = true;
            }
        });
        jobs.join();
        EXPECT_TRUE(threw);
    });
}

TEST(par_copy_if, copies_matches_in_order) {
    oracle::on_sizes([](std::size_t n) {
        for (int one_in : {1, 2, 50, 1'000'000}) {
            const auto values = oracle::random_ints(n, 1'000'000);
            const auto matches = [=](int v) { return v % one_in == 0; };
            std::vector<int> expected;
            std::ranges::copy_if(values, std::back_inserter(expected), matches);
            oracle::as_ranges(values, [&](auto&& range) {
                std::vector<int> out(expected.size() + 3, -1);
                const auto result = par::copy_if(range, out, matches);
                EXPECT_EQ(result.in, range.end());
                EXPECT_EQ(result.out - out.begin(), static_cast<std::ptrdiff_t>(expected.size()));
                EXPECT_TRUE(std::ranges::equal(expected, std::span(out).first(expected.size())));
                EXPECT_EQ(std::ranges::count(out, -1), 3);
            });
        }
    });
}

TEST(par_copy_if, copies_matches_in_stretches) {
    on_workers([] {
        for (std::size_t stretch : {1u, 3u, 64u, 65u, 200u}) {
            std::vector<std::size_t> values(2000);
            std::iota(values.begin(), values.end(), std::size_t{0});
            const auto matches = [&](std::size_t value) { return value / stretch % 2 == 0; };
            std::vector<std::size_t> expected;
            std::ranges::copy_if(values, std::back_inserter(expected), matches);
            for (std::size_t room = 0; room <= expected.size() + 1; room += 97) {
                std::vector<std::size_t> out(room);
                const auto result = par::copy_if(values, out, matches);
                const std::size_t fitting = std::min(room, expected.size());
                EXPECT_EQ(static_cast<std::size_t>(result.out - out.begin()), fitting);
                EXPECT_EQ(static_cast<std::size_t>(result.in - values.begin()),
                          room < expected.size() ? expected[room] : values.size());
                EXPECT_TRUE(std::ranges::equal(std::span(expected).first(fitting),
                                               std::span(out).first(fitting)));
            }
        }
    });
}

// HPX issue 1220 left holes. The predicate yields, so that workers run ahead.
TEST(par_copy_if, full_output_ends_at_first_match_that_does_not_fit) {
    on_workers([] {
        const auto values = oracle::random_ints(20'000, 10);
        const auto matches = [](int v) {
            oracle::yield_at(static_cast<std::size_t>(v) * 7 + 6);
            return v >= 5;
        };
        std::vector<int> all;
        std::ranges::copy_if(values, std::back_inserter(all), matches);
        for (std::size_t room : {std::size_t{0}, std::size_t{1}, all.size() / 2, all.size() - 1}) {
            std::vector<int> out(all.size(), -1);
            const auto result =
                par::copy_if({.max_grain = 300}, values, std::span(out).first(room), matches);
            EXPECT_TRUE(std::ranges::equal(std::span(all).first(room), std::span(out).first(room)));
            EXPECT_EQ(std::ranges::count(out, -1), static_cast<std::ptrdiff_t>(all.size() - room));
            EXPECT_EQ(std::ranges::count_if(values.begin(), result.in, matches),
                      static_cast<std::ptrdiff_t>(room));
            EXPECT_TRUE(*result.in >= 5);
        }
    });
}

} // namespace
