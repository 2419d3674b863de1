// SPDX-License-Identifier: Apache-2.0
// Algorithms over n random 64-bit numbers. The input is made before the clock starts, and the
// output has been written once. After the run, the result is compared with that of the serial
// algorithm of std; the answer is n if all of it is right.
//
// A runtime supplies a class with a constructor from the number of threads, and a member for each
// algorithm that it has: sort(v), stable_sort(v), scan(in, out), reduce(in), transform(in, out),
// find(in, value), partition(v), merge(a, b, out), set_union(a, b, out), histogram(in). The
// functions that they apply are those below.
#pragma once

#include "../runtime_base.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <random>

namespace lab {

using number = std::uint64_t;
using numbers = std::vector<number>;
using counts_of_bytes = std::array<std::size_t, 256>;

// Function objects, which every compiler puts in place; a pointer to a function would be called.
inline constexpr auto changed = [](number v) noexcept { return v * 3 + 1; };
inline constexpr auto goes_left = [](number v) noexcept { return v % 2 != 0; };
inline constexpr auto bucket_of = [](number v) noexcept {
    return static_cast<std::size_t>(v % 256);
};

struct algorithm_data {
    numbers in;
    numbers work;
    numbers low;  // sorted
    numbers high; // sorted
    numbers out;
    number wanted = 0; // the last number
    number sum = 0;
    std::size_t found = 0;
    counts_of_bytes counts{};

    explicit algorithm_data(std::size_t n) : in(n), low(n / 2), high(n - n / 2), out(n) {
        std::mt19937_64 random(n);
        for (number& v : in) v = random();
        wanted = in.back();
        // About half of the numbers of a part are numbers of the other part.
        for (number& v : low) v = random() % (n + 1);
        for (number& v : high) v = random() % (n + 1);
        std::ranges::sort(low);
        std::ranges::sort(high);
    }
};

struct sort_row {
    static constexpr const char* name = "algorithm-sort";
    template <class R>
    static void run(R& runtime, algorithm_data& d)
        requires requires { runtime.sort(d.work); }
    {
        runtime.sort(d.work);
    }
    static bool right(const algorithm_data& d) {
        numbers expected = d.in;
        std::ranges::sort(expected);
        return d.work == expected;
    }
};
struct stable_sort_row : sort_row {
    static constexpr const char* name = "algorithm-stable-sort";
    template <class R>
    static void run(R& runtime, algorithm_data& d)
        requires requires { runtime.stable_sort(d.work); }
    {
        runtime.stable_sort(d.work);
    }
};
struct scan_row {
    static constexpr const char* name = "algorithm-scan";
    template <class R>
    static void run(R& runtime, algorithm_data& d)
        requires requires { runtime.scan(d.in, d.out); }
    {
        runtime.scan(std::as_const(d.in), d.out);
    }
    static bool right(const algorithm_data& d) {
        numbers expected(d.in.size());
        std::inclusive_scan(d.in.begin(), d.in.end(), expected.begin());
        return d.out == expected;
    }
};
struct reduce_row {
    static constexpr const char* name = "algorithm-reduce";
    template <class R>
    static void run(R& runtime, algorithm_data& d)
        requires requires { runtime.reduce(d.in); }
    {
        d.sum = runtime.reduce(std::as_const(d.in));
    }
    static bool right(const algorithm_data& d) {
        return d.sum == std::accumulate(d.in.begin(), d.in.end(), number{0});
    }
};
struct transform_row {
    static constexpr const char* name = "algorithm-transform";
    template <class R>
    static void run(R& runtime, algorithm_data& d)
        requires requires { runtime.transform(d.in, d.out); }
    {
        runtime.transform(std::as_const(d.in), d.out);
    }
    static bool right(const algorithm_data& d) {
        return std::ranges::equal(d.in, d.out, {}, changed);
    }
};
struct find_row {
    static constexpr const char* name = "algorithm-find";
    template <class R>
    static void run(R& runtime, algorithm_data& d)
        requires requires { runtime.find(d.in, d.wanted); }
    {
        d.found = runtime.find(std::as_const(d.in), d.wanted);
    }
    static bool right(const algorithm_data& d) { return d.found == d.in.size() - 1; }
};
struct partition_row {
    static constexpr const char* name = "algorithm-partition";
    template <class R>
    static void run(R& runtime, algorithm_data& d)
        requires requires { runtime.partition(d.work); }
    {
        d.found = runtime.partition(d.work);
    }
    static bool right(const algorithm_data& d) {
        numbers kept = d.work;
        numbers expected = d.in;
        std::ranges::sort(kept);
        std::ranges::sort(expected);
        return kept == expected && std::ranges::is_partitioned(d.work, goes_left) &&
               d.found == static_cast<std::size_t>(std::ranges::count_if(d.in, goes_left));
    }
};
struct merge_row {
    static constexpr const char* name = "algorithm-merge";
    template <class R>
    static void run(R& runtime, algorithm_data& d)
        requires requires { runtime.merge(d.low, d.high, d.out); }
    {
        runtime.merge(std::as_const(d.low), std::as_const(d.high), d.out);
    }
    static bool right(const algorithm_data& d) {
        numbers expected(d.out.size());
        std::ranges::merge(d.low, d.high, expected.begin());
        return d.out == expected;
    }
};
struct set_union_row {
    static constexpr const char* name = "algorithm-set-union";
    template <class R>
    static void run(R& runtime, algorithm_data& d)
        requires requires { runtime.set_union(d.low, d.high, d.out); }
    {
        d.found = runtime.set_union(std::as_const(d.low), std::as_const(d.high), d.out);
    }
    static bool right(const algorithm_data& d) {
        numbers expected;
        std::ranges::set_union(d.low, d.high, std::back_inserter(expected));
        return d.found == expected.size() &&
               std::equal(expected.begin(), expected.end(), d.out.begin());
    }
};
struct histogram_row {
    static constexpr const char* name = "algorithm-histogram";
    template <class R>
    static void run(R& runtime, algorithm_data& d)
        requires requires { runtime.histogram(d.in); }
    {
        d.counts = runtime.histogram(std::as_const(d.in));
    }
    static bool right(const algorithm_data& d) {
        counts_of_bytes expected{};
        for (number v : d.in) ++expected[bucket_of(v)];
        return d.counts == expected;
    }
};

template <class R, class Row>
struct algorithm_workload {
    static constexpr const char* name = Row::name;
    std::int64_t count;
    std::unique_ptr<algorithm_data> data;

    explicit algorithm_workload(const std::string& size)
        : count(parse_size(size, 1, 100'000'000)),
          data(std::make_unique<algorithm_data>(static_cast<std::size_t>(count))) {}

    void prepare() const {
        data->work = data->in;
        std::ranges::fill(data->out, 0);
    }
    std::int64_t run_in(R& runtime) const {
        Row::run(runtime, *data);
        return 0;
    }
    std::int64_t check() const { return Row::right(*data) ? count : -1; }
    std::int64_t expected() const { return count; }
    std::int64_t tasks() const { return count; }
};

} // namespace lab
