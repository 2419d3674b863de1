// SPDX-License-Identifier: Apache-2.0
// Compares the parallel set operations with the serial ones of std, on 1 and 2 workers. Both ranges
// have 5·10^6 sorted numbers; `few keys` has groups of 5000 equal ones.
//
//     bench_par_sets [begin of a row's name]
#include "compare.hpp"

#include <sennit/par.hpp>

#include <algorithm>
#include <random>
#include <string_view>

namespace {

namespace par = sennit::par;
using namespace compare;

constexpr std::size_t n = 5'000'000;

numbers sorted(std::mt19937_64& random, number bound) {
    numbers values(n);
    for (number& v : values) v = random() % bound;
    std::ranges::sort(values);
    return values;
}

template <class Parallel, class Serial>
algorithm_case row(const char* name, const numbers& a, const numbers& b, numbers& out, Parallel par,
                   Serial serial) {
    return {name, [&a, &b, &out, serial] { (void)serial(a, b, out.begin()); },
            [&a, &b, &out, par] { (void)par(a, b, out); }};
}

} // namespace

int main(int argc, char** argv) {
    std::mt19937_64 random(7);
    const numbers a = sorted(random, 2 * n);
    const numbers b = sorted(random, 2 * n);
    const numbers few1 = sorted(random, 1000);
    const numbers few2 = sorted(random, 1000);
    numbers every_third;
    for (std::size_t i = 0; i < n; i += 3) every_third.push_back(a[i]);
    numbers out(2 * n);
    namespace r = std::ranges;
    measure_all(
        {row("set_union", a, b, out, par::set_union, r::set_union),
         row("set_intersection", a, b, out, par::set_intersection, r::set_intersection),
         row("set_difference", a, b, out, par::set_difference, r::set_difference),
         row("set_symmetric_difference", a, b, out, par::set_symmetric_difference,
             r::set_symmetric_difference),
         row("set_union, few keys", few1, few2, out, par::set_union, r::set_union),
         {"includes, every third", [&] { keep = r::includes(a, every_third); },
          [&] { keep = par::includes(a, every_third); }}},
        argc > 1 ? argv[1] : "", 5);
}
