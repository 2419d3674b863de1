// SPDX-License-Identifier: Apache-2.0
// Tests par::histogram, collect_reduce, group_by, pack, pack_index and flatten.
#include "oracle.hpp"

#include <sennit/nursery.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <stdexcept>

namespace {

namespace par = sennit::par;

TEST(par_histogram, counts_are_those_of_the_serial_loop) {
    oracle::on_sizes([](std::size_t n) {
        for (int buckets : {1, 2, 256}) {
            const auto values = oracle::random_ints(n, buckets);
            std::vector<std::size_t> expected(static_cast<std::size_t>(buckets));
            for (int value : values) ++expected[static_cast<std::size_t>(value)];
            EXPECT_EQ(par::histogram(values, expected.size()), expected);
            EXPECT_EQ(par::histogram({.max_grain = 10}, values.begin(), values.end(),
                                     expected.size(),
                                     [](int v) {
                                         oracle::yield_at(static_cast<std::size_t>(v));
                                         return v;
                                     }),
                      expected);
        }
    });
}

TEST(par_histogram, key_without_bucket_throws) {
    on_workers([] {
        std::vector<int> values(1000, 3);
        values[500] = 4;
        EXPECT_THROW((void)par::histogram(values, 4), std::out_of_range);
        values[500] = -1;
        EXPECT_THROW((void)par::histogram(values, 4), std::out_of_range);
    });
}

// More than 2048 keys take the second way.
TEST(par_collect_reduce, values_of_each_key_are_reduced_in_order) {
    oracle::on_sizes([](std::size_t n) {
        for (int keys : {1, 5, 2048, 1'000'000}) {
            const auto values = oracle::random_ints(n, keys);
            std::vector<std::pair<int, std::string>> elements;
            std::map<int, std::string> expected;
            for (std::size_t i = 0; i < n; ++i) {
                elements.emplace_back(values[i], i % 1000 < 3 ? std::to_string(i) + " " : "");
                expected[values[i]] += elements.back().second;
            }
            const auto result = par::collect_reduce({.max_grain = 50}, elements,
                                                    &std::pair<int, std::string>::first,
                                                    &std::pair<int, std::string>::second);
            EXPECT_EQ(result.size(), expected.size());
            EXPECT_EQ((std::map<int, std::string>(result.begin(), result.end())), expected);
        }
    });
}

TEST(par_collect_reduce, order_of_the_keys_does_not_depend_on_the_workers) {
    for (int keys : {100, 2049, 100'000}) {
        std::vector<std::pair<int, std::size_t>> first;
        on_workers([&] {
            const auto values = oracle::random_ints(50'000, keys);
            const auto counts =
                par::collect_reduce({.max_grain = 100}, values, std::identity(), [](int v) {
                    oracle::yield_at(static_cast<std::size_t>(v));
                    return std::size_t{1};
                });
            if (first.empty()) first = counts;
            EXPECT_EQ(counts, first);
        });
    }
}

TEST(par_collect_reduce, bad_hash_and_exceptions_of_callables) {
    on_workers([] {
        const auto values = oracle::random_ints(5000, 3000);
        const auto one = [](int) { return 1; };
        const auto counts = par::collect_reduce(values, std::identity(), one, std::plus<>(),
                                                [](int v) { return std::size_t(v % 3); });
        std::map<int, int> expected;
        for (int value : values) ++expected[value];
        EXPECT_EQ((std::map<int, int>(counts.begin(), counts.end())), expected);
        for (int bad : {1, 100, 5000, 9000}) {
            std::atomic<int> calls{0};
            EXPECT_EQ(oracle::error_of([&] {
                          (void)par::collect_reduce(
                              values,
                              [&](int v) {
                                  if (++calls == bad) throw std::runtime_error("stop");
                                  return v;
                              },
                              one);
                      }),
                      "stop");
        }
    });
}

TEST(par_collect_reduce, cancelled_call_throws) {
    on_workers([] {
        const auto values = oracle::random_ints(50'000, 50'000);
        bool threw = false;
        sennit::nursery jobs;
        jobs.start([&] {
            std::atomic<int> calls{0};
            try {
                (void)par::group_by(values, [&](int v) {
                    if (++calls >= 60'000) jobs.cancel();
                    return v;
                });
            } catch (const sennit::cancelled&) {
                threw = true;
            }
        });
        jobs.join();
        EXPECT_TRUE(threw);
    });
}

TEST(par_group_by, groups_keep_the_order_of_their_elements) {
    oracle::on_sizes([](std::size_t n) {
        for (int keys : {1, 7, 100'000}) {
            const auto values = oracle::random_ints(n, keys);
            std::vector<std::pair<std::string, int>> elements;
            std::map<std::string, std::vector<std::pair<std::string, int>>> expected;
            for (int value : values) {
                elements.emplace_back("k" + std::to_string(value),
                                      static_cast<int>(elements.size()));
                expected[elements.back().first].push_back(elements.back());
            }
            const auto groups = par::group_by(elements, &std::pair<std::string, int>::first);
            EXPECT_EQ(groups.size(), expected.size());
            EXPECT_EQ((decltype(expected)(groups.begin(), groups.end())), expected);
        }
    });
}

TEST(par_pack, flagged_elements_and_their_indices_are_written) {
    oracle::on_sizes([](std::size_t n) {
        const auto values = oracle::random_ints(n, 100);
        std::vector<bool> flags;
        std::vector<int> expected;
        std::vector<std::size_t> indices;
        for (std::size_t i = 0; i < n; ++i) {
            flags.push_back(values[i] % 3 == 0);
            if (!flags[i]) continue;
            expected.push_back(values[i]);
            indices.push_back(i);
        }
        std::vector<int> out(expected.size() + 1, -1);
        const auto result = par::pack({.max_grain = 60}, values, flags, out);
        EXPECT_EQ(result.in, values.end());
        EXPECT_EQ(result.out - out.begin(), std::ssize(expected));
        EXPECT_EQ(out.back(), -1);
        out.pop_back();
        EXPECT_EQ(out, expected);
        std::vector<std::size_t> found(indices.size());
        EXPECT_EQ(par::pack_index(std::as_const(flags), found), found.end());
        EXPECT_EQ(found, indices);
    });
}

TEST(par_flatten, elements_of_all_ranges_are_written_in_order) {
    oracle::on_sizes([](std::size_t n) {
        const auto lengths = oracle::random_ints(n % 5000, 9);
        std::vector<std::vector<int>> ranges;
        std::vector<int> expected;
        for (int length : lengths) {
            ranges.emplace_back(static_cast<std::size_t>(length), length);
            expected.insert(expected.end(), ranges.back().begin(), ranges.back().end());
        }
        if (!ranges.empty()) {
            ranges.front() = oracle::random_ints(50'000, 100);
            expected.erase(expected.begin(), expected.begin() + lengths.front());
            expected.insert(expected.begin(), ranges.front().begin(), ranges.front().end());
        }
        std::vector<int> out(expected.size());
        EXPECT_EQ(par::flatten(ranges, out), out.end());
        EXPECT_EQ(out, expected);
        std::vector<int> half(expected.size() / 2);
        EXPECT_EQ(par::flatten({.max_grain = 3}, ranges, half), half.end());
        EXPECT_TRUE(std::ranges::equal(half, expected | std::views::take(half.size())));
    });
}

} // namespace
