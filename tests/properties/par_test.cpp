// SPDX-License-Identifier: Apache-2.0
// Properties of the parallel algorithms on inputs that RapidCheck generates and makes small when a
// property fails. RC_PARAMS="seed=…" in the environment repeats a run; a failure prints its value.
#include <sennit/par.hpp>
#include <sennit/runtime.hpp>

#include <algorithm>
#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <rapidcheck.h>

namespace {

namespace par = sennit::par;
using ints = std::vector<int>;

// Runs a call on a runtime of 1, 2, 3 or 8 workers. RapidCheck stays on the thread of the test.
template <class F>
auto on_some_workers(F&& call) {
    static std::unique_ptr<sennit::runtime> runtimes[4];
    constexpr unsigned workers[] = {1, 2, 3, 8};
    const auto which = *rc::gen::inRange<std::size_t>(0, 4);
    if (!runtimes[which])
        runtimes[which] =
            std::make_unique<sennit::runtime>(sennit::runtime_options{.workers = workers[which]});
    return runtimes[which]->run(call);
}

// Chunks of some elements, so that thieves find work in short inputs.
par::with some_options() {
    return {.min_grain = *rc::gen::inRange<std::size_t>(0, 5),
            .max_grain = *rc::gen::inRange<std::size_t>(1, 40)};
}
// Up to some thousand numbers, of few values or of many.
ints some_ints() {
    const int bound = *rc::gen::element(2, 10, 1000, 1'000'000);
    return *rc::gen::scale(*rc::gen::element(1.0, 20.0),
                           rc::gen::container<ints>(rc::gen::inRange(0, bound)));
}
ints some_sorted_ints() {
    ints values = some_ints();
    std::ranges::sort(values);
    return values;
}
std::ptrdiff_t some_place(const ints& values) {
    return *rc::gen::inRange<std::ptrdiff_t>(0, std::ssize(values) + 1);
}
bool odd(int value) {
    return value % 2 != 0;
}

template <class Property>
void expect_property(const char* promise, const Property& property) {
    EXPECT_TRUE(rc::check(promise, property));
}

TEST(par_properties, sorts_agree_with_std) {
    expect_property("stable_sort keeps the order of equal keys", [] {
        std::vector<std::pair<int, std::size_t>> values;
        for (int key : some_ints()) values.emplace_back(key, values.size());
        auto expected = values;
        std::ranges::stable_sort(expected, {}, &std::pair<int, std::size_t>::first);
        const par::with options = some_options();
        on_some_workers(
            [&] { par::stable_sort(options, values, {}, &std::pair<int, std::size_t>::first); });
        RC_ASSERT(values == expected);
    });
    expect_property("sort, radix_sort, nth_element and partial_sort", [] {
        const ints values = some_ints();
        const auto place = some_place(values);
        const par::with options = some_options();
        ints sorted = values;
        std::ranges::sort(sorted);
        ints by_sort = values;
        ints by_radix = values;
        ints nth = values;
        ints part = values;
        ints copied(static_cast<std::size_t>(place));
        on_some_workers([&] {
            par::sort(options, by_sort);
            par::radix_sort(options, by_radix);
            par::nth_element(options, nth, nth.begin() + place);
            par::partial_sort(options, part, part.begin() + place);
            par::partial_sort_copy(options, values, copied);
        });
        RC_ASSERT(by_sort == sorted);
        RC_ASSERT(by_radix == sorted);
        const auto index = static_cast<std::size_t>(place);
        if (place != std::ssize(values)) RC_ASSERT(nth[index] == sorted[index]);
        RC_ASSERT(std::equal(part.begin(), part.begin() + place, sorted.begin()));
        RC_ASSERT(std::equal(copied.begin(), copied.end(), sorted.begin()));
    });
}

TEST(par_properties, merges_and_sets_agree_with_std) {
    expect_property("merge, inplace_merge and the set operations", [] {
        const ints a = some_sorted_ints();
        const ints b = some_sorted_ints();
        const par::with options = some_options();
        ints merged(a.size() + b.size());
        std::ranges::merge(a, b, merged.begin());
        ints out(merged.size());
        ints both = a;
        both.insert(both.end(), b.begin(), b.end());
        on_some_workers([&] {
            par::merge(options, a, b, out);
            par::inplace_merge(options, both, both.begin() + std::ssize(a));
        });
        RC_ASSERT(out == merged);
        RC_ASSERT(both == merged);
        const auto same = [&](auto&& parallel, auto&& serial) {
            ints expected;
            serial(a, b, std::back_inserter(expected));
            ints found(merged.size());
            found.erase(on_some_workers([&] { return parallel(options, a, b, found).out; }),
                        found.end());
            return found == expected;
        };
        RC_ASSERT(same(par::set_union, std::ranges::set_union));
        RC_ASSERT(same(par::set_intersection, std::ranges::set_intersection));
        RC_ASSERT(same(par::set_difference, std::ranges::set_difference));
        RC_ASSERT(same(par::set_symmetric_difference, std::ranges::set_symmetric_difference));
        RC_ASSERT(on_some_workers([&] { return par::includes(options, merged, b); }));
    });
}

TEST(par_properties, selections_agree_with_std) {
    expect_property("unique, remove_if, partition, stable_partition and rotate", [] {
        const ints values = some_ints();
        const auto place = some_place(values);
        const par::with options = some_options();
        const auto same = [&](auto&& parallel, auto&& serial) {
            ints found = values;
            on_some_workers([&] { parallel(found); });
            ints expected = values;
            serial(expected);
            return found == expected;
        };
        RC_ASSERT(same([&](ints& v) { v.erase(par::unique(options, v).begin(), v.end()); },
                       [](ints& v) { v.erase(std::ranges::unique(v).begin(), v.end()); }));
        RC_ASSERT(same([&](ints& v) { v.erase(par::remove_if(options, v, odd).begin(), v.end()); },
                       [](ints& v) { std::erase_if(v, odd); }));
        RC_ASSERT(same([&](ints& v) { par::stable_partition(options, v, odd); },
                       [](ints& v) { std::stable_partition(v.begin(), v.end(), odd); }));
        RC_ASSERT(same([&](ints& v) { par::rotate(options, v, v.begin() + place); },
                       [&](ints& v) { std::ranges::rotate(v, v.begin() + place); }));
        RC_ASSERT(same(
            [&](ints& v) {
                par::partition(options, v, odd);
                RC_ASSERT(std::ranges::is_partitioned(v, odd));
                std::ranges::sort(v);
            },
            [](ints& v) { std::ranges::sort(v); }));
    });
    expect_property("copy_if and partition_copy stop where the output is full", [] {
        const ints values = some_ints();
        const par::with options = some_options();
        const auto room1 = static_cast<std::size_t>(some_place(values));
        const auto room2 = static_cast<std::size_t>(some_place(values));
        ints out1(room1);
        ints out2(room2);
        ints copied(room1);
        const auto [parted, filtered] = on_some_workers([&] {
            return std::pair(par::partition_copy(options, values, out1, out2, odd),
                             par::copy_if(options, values, copied, odd));
        });
        ints expected1;
        ints expected2;
        auto at = values.begin();
        for (; at != values.end(); ++at) {
            ints& out = odd(*at) ? expected1 : expected2;
            if (out.size() == (odd(*at) ? room1 : room2)) break;
            out.push_back(*at);
        }
        RC_ASSERT(parted.in == at);
        RC_ASSERT(ints(out1.begin(), parted.out1) == expected1);
        RC_ASSERT(ints(out2.begin(), parted.out2) == expected2);
        ints odds;
        std::ranges::copy_if(values, std::back_inserter(odds), odd);
        odds.resize(std::min(odds.size(), room1));
        RC_ASSERT(ints(copied.begin(), filtered.out) == odds);
    });
}

// x → ax + b modulo 2^32: composition is associative, and not commutative.
struct affine {
    unsigned a = 1;
    unsigned b = 0;
    friend affine operator*(const affine& first, const affine& then) {
        return {then.a * first.a, then.a * first.b + then.b};
    }
    bool operator==(const affine&) const = default;
};

TEST(par_properties, scans_and_reductions_keep_the_order) {
    expect_property("scans and reductions of an operation that is not commutative", [] {
        const ints values = some_ints();
        const par::with options = some_options();
        const auto to_affine = [](int v) {
            return affine{static_cast<unsigned>(2 * v + 3), static_cast<unsigned>(v)};
        };
        std::vector<affine> maps(values.size());
        std::ranges::transform(values, maps.begin(), to_affine);
        std::vector<affine> inclusive(maps.size());
        std::vector<affine> exclusive(maps.size());
        std::vector<affine> transformed(maps.size());
        const affine all = on_some_workers([&] {
            par::inclusive_scan(options, maps, inclusive, std::multiplies<>());
            par::exclusive_scan(options, maps, exclusive, affine(), std::multiplies<>());
            par::transform_inclusive_scan(options, values, transformed, std::multiplies<>(),
                                          to_affine);
            return par::reduce(options, maps, affine(), std::multiplies<>());
        });
        affine expected;
        for (std::size_t i = 0; i != maps.size(); ++i) {
            RC_ASSERT(exclusive[i] == expected);
            expected = expected * maps[i];
            RC_ASSERT(inclusive[i] == expected);
        }
        RC_ASSERT(transformed == inclusive);
        RC_ASSERT(all == expected);
    });
    expect_property("a deterministic reduction has equal bits on any workers", [] {
        const auto values = *rc::gen::scale(
            20.0, rc::gen::container<std::vector<double>>(rc::gen::arbitrary<double>()));
        const par::with options{.min_grain = *rc::gen::inRange<std::size_t>(0, 9),
                                .deterministic = true};
        const auto sum = [&] { return par::reduce(options, values, 0.0); };
        const double first = on_some_workers(sum);
        const double second = on_some_workers(sum);
        RC_ASSERT(std::bit_cast<std::uint64_t>(first) == std::bit_cast<std::uint64_t>(second));
    });
}

TEST(par_properties, searches_agree_with_std) {
    expect_property("searches find the first or the last match", [] {
        const ints text = some_ints();
        const ints word = *rc::gen::weightedOneOf<ints>(
            {{1, rc::gen::container<ints>(2, rc::gen::inRange(0, 3))},
             {1, rc::gen::exec([&] {
                  const auto a = some_place(text);
                  const auto b = some_place(text);
                  return ints(text.begin() + std::min(a, b), text.begin() + std::max(a, b));
              })}});
        const int value = *rc::gen::inRange(0, 3);
        const int count = *rc::gen::inRange(0, 4);
        const par::with options = some_options();
        const auto at = [&](auto found) { return found - text.begin(); };
        on_some_workers([&] {
            EXPECT_EQ(at(par::find(options, text, value)), at(std::ranges::find(text, value)));
            EXPECT_EQ(at(par::search(options, text, word).begin()),
                      at(std::ranges::search(text, word).begin()));
            EXPECT_EQ(at(par::find_end(options, text, word).begin()),
                      at(std::ranges::find_end(text, word).begin()));
            EXPECT_EQ(at(par::search_n(options, text, count, value).begin()),
                      at(std::ranges::search_n(text, count, value).begin()));
            EXPECT_EQ(at(par::adjacent_find(options, text)), at(std::ranges::adjacent_find(text)));
            EXPECT_EQ(at(par::mismatch(options, text, word).in1),
                      at(std::ranges::mismatch(text, word).in1));
            EXPECT_EQ(par::lexicographical_compare(options, text, word),
                      std::ranges::lexicographical_compare(text, word));
            EXPECT_EQ(at(par::min_element(options, text)), at(std::ranges::min_element(text)));
            const auto [low, high] = std::ranges::minmax_element(text);
            const auto found = par::minmax_element(options, text);
            EXPECT_EQ(at(found.min), at(low));
            EXPECT_EQ(at(found.max), at(high));
        });
        RC_ASSERT(!testing::Test::HasFailure());
    });
}

TEST(par_properties, elements_survive_any_comparison) {
    expect_property("sorts and merges keep the elements when a comparison throws or lies", [] {
        const ints values = some_ints();
        const par::with options = some_options();
        const auto bad = *rc::gen::inRange<long>(0, 4 * std::ssize(values) + 2);
        const auto lies = *rc::gen::inRange(0u, 4u);
        ints sorted = values;
        std::ranges::sort(sorted);
        for (int which = 0; which != 4; ++which) {
            ints found = values;
            std::atomic<long> calls{0};
            const auto less = [&](int a, int b) {
                const long call = ++calls;
                if (call == bad) throw std::runtime_error("stop");
                return lies != 0 && (static_cast<unsigned>(call) & lies) == lies ? b <= a : a < b;
            };
            try {
                on_some_workers([&] {
                    const auto middle = found.begin() + std::ssize(found) / 3;
                    if (which == 0) par::sort(options, found, less);
                    if (which == 1) par::stable_sort(options, found, less);
                    if (which == 2) par::nth_element(options, found, middle, less);
                    if (which == 3) par::inplace_merge(options, found, middle, less);
                });
            } catch (const std::runtime_error&) {
            }
            std::ranges::sort(found);
            RC_ASSERT(found == sorted);
        }
    });
}

} // namespace
