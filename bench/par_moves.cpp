// SPDX-License-Identifier: Apache-2.0
// Compares parallel algorithms that move or group elements with serial ones, over 10^7 numbers, on
// 1 and 2 workers.
//
//     bench_par_moves [begin of a row's name]
#include "compare.hpp"

// std::stable_partition of libstdc++ calls a function that clang calls deprecated.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#include <sennit/par.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string_view>
#include <unordered_map>

namespace {

namespace par = sennit::par;
using namespace compare;

constexpr std::size_t n = 10'000'000;

template <class Count>
std::size_t count_serially(const numbers& keys, Count key) {
    std::unordered_map<number, number> counts;
    for (number v : keys) counts[key(v)] += 1;
    return counts.size();
}

} // namespace

int main(int argc, char** argv) {
    std::mt19937_64 random(7);
    numbers in(n);
    for (number& v : in) v = random();
    numbers work = in;
    std::vector<std::uint32_t> small(in.begin(), in.end());
    auto small_work = small;
    const auto reset = [&] { work = in; };
    const auto reset_small = [&] { small_work = small; };
    const auto odd = [](number v) { return v % 2 != 0; };
    const auto byte = [](number v) { return v % 256; };
    const auto many = [](number v) { return v % 1'000'000; };
    const auto one = [](number) { return number{1}; };
    constexpr std::size_t side = 3000;
    const auto begin = work.begin();
    measure_all(
        {{"rotate by 1000", [&] { std::rotate(begin, begin + 1000, work.end()); },
          [&] { par::rotate(work, begin + 1000); }},
         {"rotate by a third", [&] { std::rotate(begin, begin + n / 3, work.end()); },
          [&] { par::rotate(work, begin + n / 3); }},
         {"shift_left by 1000", [&] { std::shift_left(begin, work.end(), 1000); },
          [&] { par::shift_left(work, 1000); }},
         {"stable_partition, random", [&] { std::stable_partition(begin, work.end(), odd); },
          [&] { par::stable_partition(work, odd); }, reset},
         {"shuffle", [&] { std::shuffle(begin, work.end(), random); },
          [&] { par::shuffle(work, 7); }},
         {"radix_sort / sort, 64 bits", [&] { std::sort(begin, work.end()); },
          [&] { par::radix_sort(work); }, reset},
         {"radix_sort / sort, 32 bits", [&] { std::sort(small_work.begin(), small_work.end()); },
          [&] { par::radix_sort(small_work); }, reset_small},
         {"histogram, 256",
          [&] {
              std::vector<std::size_t> counts(256);
              for (number v : in) ++counts[byte(v)];
              keep = counts[7];
          },
          [&] { keep = par::histogram(in, 256, byte)[7]; }},
         {"collect_reduce, 256 keys", [&] { keep = count_serially(in, byte); },
          [&] { keep = par::collect_reduce(in, byte, one).size(); }},
         {"collect_reduce, 1e6 keys", [&] { keep = count_serially(in, many); },
          [&] { keep = par::collect_reduce(in, many, one).size(); }},
         {"for_each_index, 3000 x 3000",
          [&] {
              for (std::size_t i = 0; i != side; ++i)
                  for (std::size_t j = 0; j != side; ++j) work[i * side + j] = i * j;
          },
          [&] {
              const auto put = [=, to = work.data()](std::size_t i, std::size_t j) {
                  to[i * side + j] = i * j;
              };
              par::for_each_index({side, side}, put);
          }},
         {"for_each_tile, transposition",
          [&] {
              for (std::size_t i = 0; i != side; ++i)
                  for (std::size_t j = 0; j != side; ++j) work[j * side + i] = in[i * side + j];
          },
          [&] {
              par::for_each_tile({side, side}, {32, 32}, [&](const par::tile<2>& t) {
                  for (std::size_t i = t.first[0]; i != t.last[0]; ++i)
                      for (std::size_t j = t.first[1]; j != t.last[1]; ++j)
                          work[j * side + i] = in[i * side + j];
              });
          }}},
        argc > 1 ? argv[1] : "", 3);
}
