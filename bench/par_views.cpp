// SPDX-License-Identifier: Apache-2.0
// Compares chains of par::view with hand-written loops over 10^7 numbers, on 1 and 2 workers.
//
//     bench_par_views [begin of a row's name]
#include "compare.hpp"

#include <sennit/par.hpp>

#include <cmath>
#include <random>
#include <string_view>

namespace {

namespace par = sennit::par;
namespace views = sennit::par::views;
using namespace compare;

} // namespace

int main(int argc, char** argv) {
    std::mt19937_64 random(7);
    numbers in(10'000'000);
    for (number& v : in) v = random();
    numbers other = in;
    numbers out(in.size());
    const auto triple = [](number v) { return v * 3 + 1; };
    const auto odd = [](number v) { return v % 2 != 0; };
    const auto root = [](number v) { return std::sqrt(static_cast<double>(v)); };
    measure_all(
        {{"transform, sum",
          [&] {
              number sum = 0;
              for (number v : in) sum += triple(v);
              keep = sum;
          },
          [&] { keep = (par::view(in) | views::transform(triple)).sum(); }},
         {"filter, transform, sum",
          [&] {
              number sum = 0;
              for (number v : in)
                  if (odd(v)) sum += triple(v);
              keep = sum;
          },
          [&] { keep = (par::view(in) | views::filter(odd) | views::transform(triple)).sum(); }},
         {"transform, filter, count",
          [&] {
              std::size_t count = 0;
              for (number v : in) count += root(v) > 3e9;
              keep = count;
          },
          [&] {
              keep = (par::view(in) | views::transform(root) |
                      views::filter([](double v) { return v > 3e9; }))
                         .count();
          }},
         {"zip, transform, sum",
          [&] {
              number sum = 0;
              for (std::size_t i = 0; i != in.size(); ++i) sum += in[i] * other[i];
              keep = sum;
          },
          [&] {
              keep = (par::view(in) | views::zip(other) |
                      views::transform([](const auto& p) { return p.first * p.second; }))
                         .sum();
          }},
         {"transform, transform, into",
          [&] {
              for (std::size_t i = 0; i != in.size(); ++i) out[i] = triple(triple(in[i]));
          },
          [&] { (par::view(in) | views::transform(triple) | views::transform(triple)).into(out); }},
         {"filter, collect",
          [&] {
              numbers found;
              for (number v : in)
                  if (odd(v)) found.push_back(v);
              keep = found.size();
          },
          [&] { keep = (par::view(in) | views::filter(odd)).collect().size(); }}},
        argc > 1 ? argv[1] : "", 5);
}
