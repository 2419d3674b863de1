// SPDX-License-Identifier: Apache-2.0
// Compares the parallel algorithms with the serial algorithms of std, on 1 and 2 workers.
//
//     bench_par_algorithms [begin of a row's name]
//
// Each round runs the serial and the parallel form right after each other, over 10^7 elements of 8
// bytes. A row shows the median time of the serial form, and the median of the ratios parallel /
// serial of all rounds.
#include "compare.hpp"

#include <sennit/par.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <random>
#include <span>
#include <string_view>
#include <vector>

namespace {

namespace par = sennit::par;
using namespace compare;

constexpr std::size_t n = 10'000'000;

number ten_square_roots(number value) {
    double x = static_cast<double>(value % 1024) + 1.0;
    for (int k = 0; k < 10; ++k) x = std::sqrt(x + 2.0);
    return static_cast<number>(x * 1e6);
}

template <class I>
void note(I found) {
    keep = static_cast<number>(found);
}

std::vector<algorithm_case> cases(numbers& in, numbers& out, numbers& halves, numbers& to_sort) {
    const auto triple = [](number v) { return v * 3 + 1; };
    const auto odd = [](number v) { return v % 2 != 0; };
    const auto low = std::span(halves).first(n / 2);
    const auto high = std::span(halves).subspan(n / 2);
    const auto tenth = std::span(in).first(n / 10);
    const auto rare = [&in](number v) { return ten_square_roots(v) == 1 || v == in[n / 20]; };
    const number at_half = in[n / 2];
    const auto random = [&in, &to_sort] { to_sort = in; };
    return {
        {"transform, 3v+1", [=, &in, &out] { std::ranges::transform(in, out.begin(), triple); },
         [=, &in, &out] { par::transform(in, out, triple); }},
        {"transform, 10 square roots, 1e6",
         [=, &out] { std::ranges::transform(tenth, out.begin(), ten_square_roots); },
         [=, &out] { par::transform(tenth, out, ten_square_roots); }},
        {"copy", [&] { std::ranges::copy(in, out.begin()); }, [&] { par::copy(in, out); }},
        {"fill", [&] { std::ranges::fill(out, number{7}); }, [&] { par::fill(out, number{7}); }},
        {"reverse", [&] { std::ranges::reverse(out); }, [&] { par::reverse(out); }},
        {"reduce", [&] { keep = std::accumulate(in.begin(), in.end(), number{0}); },
         [&] { keep = par::reduce(in, number{0}); }},
        {"reduce, deterministic", [&] { keep = std::accumulate(in.begin(), in.end(), number{0}); },
         [&] { keep = par::reduce(par::deterministic, in, number{0}); }},
        {"count_if", [=, &in] { note(std::ranges::count_if(in, odd)); },
         [=, &in] { note(par::count_if(in, odd)); }},
        {"min_element", [&] { keep = *std::min_element(in.begin(), in.end()); },
         [&] { keep = *par::min_element(in); }},
        {"minmax_element", [&] { keep = *std::minmax_element(in.begin(), in.end()).first; },
         [&] { keep = *par::minmax_element(in).min; }},
        {"find, no match", [&] { note(std::ranges::find(in, number{1}) - in.begin()); },
         [&] { note(par::find(in, number{1}) - in.begin()); }},
        {"find, match at 50 %", [=, &in] { note(std::ranges::find(in, at_half) - in.begin()); },
         [=, &in] { note(par::find(in, at_half) - in.begin()); }},
        {"find_if, 10 square roots, at 5 %",
         [=, &in] { note(std::ranges::find_if(in, rare) - in.begin()); },
         [=, &in] { note(par::find_if(in, rare) - in.begin()); }},
        {"is_sorted, 5e6", [=] { keep = std::ranges::is_sorted(low); },
         [=] { keep = par::is_sorted(low); }},
        {"merge, 2 x 5e6", [=, &out] { std::ranges::merge(low, high, out.begin()); },
         [=, &out] { par::merge(low, high, out); }},
        {"inclusive_scan", [&] { std::inclusive_scan(in.begin(), in.end(), out.begin()); },
         [&] { par::inclusive_scan(in, out); }},
        {"inclusive_scan, 10 square roots, 1e6",
         [=, &out] {
             std::inclusive_scan(tenth.begin(), tenth.end(), out.begin(),
                                 [](number a, number b) { return ten_square_roots(a + b); });
         },
         [=, &out] {
             par::inclusive_scan(tenth, out,
                                 [](number a, number b) { return ten_square_roots(a + b); });
         }},
        {"copy_if, 50 %", [=, &in, &out] { std::ranges::copy_if(in, out.begin(), odd); },
         [=, &in, &out] { par::copy_if(in, out, odd); }},
        {"partition, random", [=, &to_sort] { std::ranges::partition(to_sort, odd); },
         [=, &to_sort] { par::partition(to_sort, odd); }, random},
        {"remove_if, 50 %", [=, &to_sort] { std::ranges::remove_if(to_sort, odd); },
         [=, &to_sort] { par::remove_if(to_sort, odd); }, random},
        {"unique, all different", [&] { std::ranges::unique(to_sort); },
         [&] { par::unique(to_sort); }, random},
        {"nth_element, median",
         [&] { std::ranges::nth_element(to_sort, to_sort.begin() + n / 2); },
         [&] { par::nth_element(to_sort, to_sort.begin() + n / 2); }, random},
        {"partial_sort, 1 %",
         [&] { std::ranges::partial_sort(to_sort, to_sort.begin() + n / 100); },
         [&] { par::partial_sort(to_sort, to_sort.begin() + n / 100); }, random},
        {"inplace_merge, 2 x 5e6",
         [&] { std::inplace_merge(to_sort.begin(), to_sort.begin() + n / 2, to_sort.end()); },
         [&] { par::inplace_merge(to_sort, to_sort.begin() + n / 2); },
         [&] { to_sort = halves; }},
        {"sort, random", [&] { std::ranges::sort(to_sort); }, [&] { par::sort(to_sort); }, random},
        {"sort, 16 keys", [&] { std::ranges::sort(to_sort); }, [&] { par::sort(to_sort); },
         [=, &to_sort] {
             random();
             for (number& v : to_sort) v %= 16;
         }},
        {"sort, sorted", [&] { std::ranges::sort(to_sort); }, [&] { par::sort(to_sort); },
         [&] {
             to_sort.resize(n);
             std::iota(to_sort.begin(), to_sort.end(), number{0});
         }},
        {"stable_sort, random", [&] { std::stable_sort(to_sort.begin(), to_sort.end()); },
         [&] { par::stable_sort(to_sort); }, random},
    };
}

} // namespace

int main(int argc, char** argv) {
    const std::string_view wanted = argc > 1 ? argv[1] : "";
    std::mt19937_64 random(7);
    numbers in(n);
    for (number& v : in) v = random();
    numbers out(n, 1);
    numbers halves = in;
    std::sort(halves.begin(), halves.begin() + n / 2);
    std::sort(halves.begin() + n / 2, halves.end());
    numbers to_sort = in;
    measure_all(cases(in, out, halves, to_sort), wanted, 5);
}
