// SPDX-License-Identifier: Apache-2.0
// Tests the set operations and par::includes against their serial forms.
#include "oracle.hpp"

#include <sennit/event.hpp>
#include <sennit/fiber.hpp>
#include <sennit/nursery.hpp>

#include <atomic>
#include <functional>
#include <stdexcept>

namespace {

namespace par = sennit::par;

// An element that says from which range it comes, and which copy of its key it is.
struct tagged_key {
    int key;
    int source;
    int copy;
    bool operator==(const tagged_key&) const = default;
};

std::vector<tagged_key> sorted_tags(std::size_t n, int keys, int source) {
    auto random = oracle::random_ints(n + static_cast<std::size_t>(source), keys);
    random.resize(n);
    std::ranges::sort(random);
    std::vector<tagged_key> values;
    for (int key : random) values.push_back({key, source, static_cast<int>(values.size())});
    return values;
}
std::vector<int> sorted_ints(std::size_t n, int keys, std::size_t seed) {
    auto random = oracle::random_ints(n + seed, keys);
    random.resize(n);
    std::ranges::sort(random);
    return random;
}

// One type for the comparisons of several tests, so that the compiler sees each operation once.
using int_order = std::function<bool(int, int)>;

// The operations, and their serial forms.
template <class Parallel, class Serial>
struct operation {
    Parallel parallel;
    Serial serial;
};
template <class F>
void for_operations(F&& body) {
    body(operation{par::set_union, std::ranges::set_union});
    body(operation{par::set_intersection, std::ranges::set_intersection});
    body(operation{par::set_difference, std::ranges::set_difference});
    body(operation{par::set_symmetric_difference, std::ranges::set_symmetric_difference});
}

template <class T, class R1, class R2, class Op, class Less, class Proj>
std::vector<T> serial_result(const Op& op, R1&& a, R2&& b, Less less, Proj proj) {
    std::vector<T> out;
    op.serial(a, b, std::back_inserter(out), less, proj, proj);
    return out;
}

// Long groups of equal elements, and groups of one.
constexpr int key_counts[] = {1, 3, 50, 1'000'000};

TEST(par_set_operations, results_are_those_of_the_serial_forms) {
    oracle::on_sizes([](std::size_t n) {
        for (std::size_t n2 : {std::size_t{0}, n / 5, n, 2 * n + 1}) {
            for (int keys : key_counts) {
                // The longest inputs are long enough without these.
                if (n > large(5000) && (n2 >= n || keys == 50)) continue;
                const auto a = sorted_tags(n, keys, 1);
                const auto b = sorted_tags(n2, keys, 2);
                const auto c = sorted_ints(n, keys, 1);
                const auto d = sorted_ints(n2, keys, 2);
                for_operations([&](const auto& op) {
                    const auto expected =
                        serial_result<tagged_key>(op, a, b, std::ranges::less(), &tagged_key::key);
                    std::vector<tagged_key> out(expected.size() + 2, tagged_key{-1, -1, -1});
                    const auto result =
                        op.parallel(a, b, out, {}, &tagged_key::key, &tagged_key::key);
                    EXPECT_EQ(result.in1, a.end());
                    EXPECT_EQ(result.in2, b.end());
                    EXPECT_EQ(result.out - out.begin(), std::ssize(expected));
                    EXPECT_EQ(out.back(), (tagged_key{-1, -1, -1}));
                    out.resize(expected.size());
                    EXPECT_EQ(out, expected);
                    const auto numbers =
                        serial_result<int>(op, c, d, std::ranges::less(), std::identity());
                    std::vector<int> written(numbers.size());
                    (void)op.parallel(c.begin(), c.end(), d.begin(), d.end(), written.begin(),
                                      std::unreachable_sentinel);
                    EXPECT_EQ(written, numbers);
                });
            }
        }
    });
}

// The comparison yields, so that workers run ahead and cut groups of equal elements.
TEST(par_set_operations, chunks_of_several_workers_cut_groups) {
    on_workers([] {
        for (int keys : {1, 4, 700}) {
            const auto a = sorted_tags(2000, keys, 1);
            const auto b = sorted_tags(1500, keys, 2);
            std::atomic<unsigned> calls{0};
            const int_order less = [&](int x, int y) {
                oracle::yield_at(calls.fetch_add(1));
                return x < y;
            };
            for_operations([&](const auto& op) {
                const auto expected =
                    serial_result<tagged_key>(op, a, b, std::ranges::less(), &tagged_key::key);
                std::vector<tagged_key> out(expected.size());
                (void)op.parallel({.max_grain = 7}, a, b, out, less, &tagged_key::key,
                                  &tagged_key::key);
                EXPECT_EQ(out, expected);
            });
        }
    });
}

TEST(par_set_operations, chunks_of_numbers_cut_groups) {
    on_workers([] {
        for (int keys : {1, 40, 70'000}) {
            const auto a = sorted_ints(large(70'000), keys, 1);
            const auto b = sorted_ints(large(50'000), keys, 2);
            for_operations([&](const auto& op) {
                const auto expected =
                    serial_result<int>(op, a, b, std::ranges::less(), std::identity());
                std::vector<int> out(expected.size());
                (void)op.parallel({.max_grain = 100}, a, b, out);
                EXPECT_EQ(out, expected);
            });
        }
    });
}

TEST(par_set_operations, full_output_ends_at_first_element_that_does_not_fit) {
    on_workers([] {
        const auto a = sorted_ints(3000, 1000, 1);
        const auto b = sorted_ints(4000, 1000, 2);
        for_operations([&](const auto& op) {
            const auto all = serial_result<int>(op, a, b, std::ranges::less(), std::identity());
            for (std::size_t room :
                 {std::size_t{0}, std::size_t{1}, all.size() / 2, all.size() - 1, all.size()}) {
                std::vector<int> out(all.size(), -1);
                const auto result =
                    op.parallel({.max_grain = 90}, a, b, std::span(out).first(room));
                EXPECT_TRUE(
                    std::ranges::equal(std::span(all).first(room), std::span(out).first(room)));
                EXPECT_EQ(std::ranges::count(out, -1),
                          std::ssize(all) - std::ssize(out) +
                              static_cast<std::ptrdiff_t>(all.size() - room));
                // The rest of the inputs gives the rest of the result.
                const auto rest = serial_result<int>(op, std::ranges::subrange(result.in1, a.end()),
                                                     std::ranges::subrange(result.in2, b.end()),
                                                     std::ranges::less(), std::identity());
                EXPECT_TRUE(std::ranges::equal(std::span(all).subspan(room), rest));
            }
        });
    });
}

TEST(par_set_operations, elements_need_no_default_constructor) {
    on_workers([] {
        std::vector<oracle::boxed> a;
        std::vector<oracle::boxed> b;
        constexpr std::size_t n = large(5000);
        for (int i = 0; i < static_cast<int>(n); ++i) (i % 3 == 0 ? a : b).emplace_back(i / 2);
        std::vector<oracle::boxed> out(n, oracle::boxed(-1));
        const auto result = par::set_union(
            a, b, out, std::ranges::greater_equal(), [](const oracle::boxed& v) { return v.value; },
            &oracle::boxed::value);
        EXPECT_LE(result.out - out.begin(), std::ssize(out));
        (void)par::set_union(a, b, out, {}, &oracle::boxed::value, &oracle::boxed::value);
        std::vector<oracle::boxed> expected;
        std::ranges::set_union(a, b, std::back_inserter(expected), {}, &oracle::boxed::value,
                               &oracle::boxed::value);
        out.resize(expected.size(), oracle::boxed(-1));
        EXPECT_EQ(out, expected);
    });
}

// std allows 2 (n1 + n2) - 1 comparisons.
TEST(par_set_operations, single_worker_compares_as_often_as_the_serial_form) {
    sennit::runtime runtime({.workers = 1});
    runtime.run([] {
        const auto a = sorted_tags(3000, 500, 1);
        const auto b = sorted_tags(2000, 500, 2);
        for_operations([&](const auto& op) {
            int serial = 0;
            int parallel = 0;
            std::vector<tagged_key> out(5000);
            op.serial(
                a, b, out.begin(), [&](int x, int y) { return ++serial, x < y; }, &tagged_key::key,
                &tagged_key::key);
            const int_order less = [&](int x, int y) { return ++parallel, x < y; };
            (void)op.parallel(a, b, out, less, &tagged_key::key, &tagged_key::key);
            EXPECT_LE(serial, 9999);
            EXPECT_LE(parallel, 9999);
        });
    });
}

TEST(par_set_operations, unsorted_ranges_are_not_left) {
    on_workers([] {
        const auto a = oracle::random_ints(5000, 100);
        const auto b = oracle::random_ints(7000, 100);
        std::vector<int> out(12'000);
        for_operations([&](const auto& op) {
            const int_order any = [](int x, int y) {
                oracle::yield_at(static_cast<std::size_t>(x));
                return (x * 31 + y) % 2 == 0;
            };
            const int_order picky = [](int x, int y) {
                if (x == 57) throw std::runtime_error("57");
                return x < y;
            };
            oracle::as_ranges(a, [&](auto&& range) {
                (void)op.parallel({.max_grain = 50}, range, b, out, any);
                EXPECT_EQ(oracle::error_of([&] { (void)op.parallel(range, b, out, picky); }), "57");
            });
        });
    });
}

TEST(par_set_operations, cancelled_operation_throws_and_comparisons_may_block) {
    on_workers([] {
        const auto a = sorted_ints(large(50'000), 1000, 1);
        std::vector<int> out(2 * a.size());
        bool threw = false;
        {
            sennit::nursery jobs;
            jobs.start([&] {
                std::atomic<int> calls{0};
                try {
                    (void)par::set_union({.max_grain = 100}, a, a, out, [&](int x, int y) {
                        if (++calls >= 1000) jobs.cancel();
                        return x < y;
                    });
                } catch (const sennit::cancelled&) {
                    threw = true;
                }
            });
            jobs.join();
        }
        EXPECT_TRUE(threw);
        sennit::event opened;
        sennit::fiber opener([&] { opened.set(); });
        (void)par::set_union(a, a, out, [&](int x, int y) {
            if (x == 500) opened.wait();
            return x < y;
        });
        EXPECT_TRUE(std::ranges::equal(a, std::span(out).first(a.size())));
        opener.join();
    });
}

TEST(par_includes, says_what_the_serial_form_says) {
    oracle::on_sizes([](std::size_t n) {
        for (int keys : key_counts) {
            const auto all = sorted_ints(n, keys, 1);
            std::vector<int> some;
            for (std::size_t i = 0; i < n; ++i)
                if (i % 3 != 1) some.push_back(all[i]);
            EXPECT_TRUE(par::includes(all, some));
            EXPECT_TRUE(par::includes(all, all));
            EXPECT_EQ(par::includes(some, all), n < 2);
            // One element is missing at different places.
            for (std::size_t place : {std::size_t{0}, n / 2, n - 1}) {
                if (n == 0) break;
                auto without = all;
                without.erase(without.begin() + static_cast<std::ptrdiff_t>(place));
                EXPECT_FALSE(par::includes(without, all));
                without.insert(without.begin(), -1);
                EXPECT_FALSE(par::includes(without, all));
                EXPECT_FALSE(par::includes({.max_grain = 7}, without.begin(), without.end(),
                                           all.begin(), all.end()));
            }
        }
    });
}

// A thief begins inside a group of equal elements, some of which are taken.
TEST(par_includes, stolen_chunks_begin_inside_groups) {
    on_workers([] {
        for (int keys : {1, 3, 100}) {
            const auto all = sorted_tags(3000, keys, 1);
            auto fewer = all;
            fewer.pop_back();
            const auto less = [](int x, int y) {
                oracle::yield_at(static_cast<std::size_t>(x) + 13);
                return x < y;
            };
            EXPECT_TRUE(par::includes({.max_grain = 7}, all, all, less, &tagged_key::key,
                                      &tagged_key::key));
            fewer.insert(fewer.begin(), tagged_key{-1, 0, 0});
            EXPECT_FALSE(par::includes({.max_grain = 7}, fewer, all, less, &tagged_key::key,
                                       &tagged_key::key));
        }
    });
}

} // namespace
