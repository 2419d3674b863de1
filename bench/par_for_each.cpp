// SPDX-License-Identifier: Apache-2.0
// Compares parallel loops with the plain loops that they replace, on 1 and 2 workers.
//
//     bench_par_for_each [rounds]
//
// Each round runs the plain and the parallel form right after each other, in alternating order. A
// row shows the median time of the plain form, and the median of the ratios parallel / plain of all
// rounds.
#include <sennit/par.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <span>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;

double seconds(const std::function<void()>& body) {
    const auto start = clock_type::now();
    body();
    return std::chrono::duration<double>(clock_type::now() - start).count();
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

struct loop_case {
    const char* name;
    std::function<void()> plain;
    std::function<void()> parallel;
};

struct row {
    double plain_ms;
    double ratio;
};

row measure(const loop_case& one, int rounds) {
    std::vector<double> plain_times;
    std::vector<double> ratios;
    one.plain();
    one.parallel();
    for (int round = 0; round < rounds; ++round) {
        double plain = 0;
        double parallel = 0;
        if (round % 2 == 0) {
            plain = seconds(one.plain);
            parallel = seconds(one.parallel);
        } else {
            parallel = seconds(one.parallel);
            plain = seconds(one.plain);
        }
        plain_times.push_back(plain);
        ratios.push_back(parallel / plain);
    }
    return {median(plain_times) * 1e3, median(ratios)};
}

// Each plain form is a function of its own, as a user would write it.
[[gnu::noinline]] void plain_saxpy(float* y, const float* x, float a, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) y[i] += a * x[i];
}
[[gnu::noinline]] void plain_scale(std::vector<std::uint32_t>& values) {
    for (auto& v : values) v = v * 3 + 1;
}
[[gnu::noinline]] std::uint64_t plain_hash(std::size_t n) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += (i * 0x9E3779B97F4A7C15u) >> 40;
    return sum;
}
double costly(std::size_t i) {
    double x = static_cast<double>(i % 1000) + 1.0;
    for (int k = 0; k < 20; ++k) x = std::sqrt(x + 2.0);
    return x;
}
[[gnu::noinline]] void plain_costly(double* out, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) out[i] = costly(i);
}

constexpr std::size_t long_n = 100'000'000;
constexpr std::size_t cached_n = 8'000;
constexpr std::size_t costly_n = 200'000;

volatile std::uint64_t keep;

// Repeats short loops within one measurement, so that reading the clock takes a small part of it.
template <class F>
void repeat(F&& body, int times) {
    for (int i = 0; i < times; ++i) body();
}

} // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 9;
    std::vector<float> x(long_n, 1.5f);
    std::vector<float> y(long_n, 0.5f);
    std::vector<std::uint32_t> u(long_n, 7);
    std::vector<double> out(costly_n);
    const std::vector<std::size_t> short_lengths{100, 1'000, 10'000, 100'000};

    std::printf("%-44s %8s %10s %9s\n", "loop", "workers", "plain ms", "ratio");
    for (unsigned workers : {1u, 2u}) {
        sennit::runtime runtime({.workers = workers});
        runtime.run([&] {
            float* yp = y.data();
            const float* xp = x.data();
            double* op = out.data();
            std::vector<loop_case> cases{
                {"for_each_n, saxpy, 1e8", [=] { plain_saxpy(yp, xp, 0.25f, long_n); },
                 [=] {
                     sennit::par::for_each_n(long_n,
                                             [=](std::size_t i) { yp[i] += 0.25f * xp[i]; });
                 }},
                {"for_each(vector), 3v+1, 1e8", [&u] { plain_scale(u); },
                 [&u] { sennit::par::for_each(u, [](std::uint32_t& v) { v = v * 3 + 1; }); }},
                {"transform_reduce, hash, 1e8", [] { keep = plain_hash(long_n); },
                 [] {
                     keep = sennit::par::transform_reduce(
                         std::views::iota(std::size_t{0}, long_n), std::uint64_t{0}, std::plus<>(),
                         [](std::size_t i) { return (i * 0x9E3779B97F4A7C15u) >> 40; });
                 }},
                {"transform_reduce deterministic, hash, 1e8", [] { keep = plain_hash(long_n); },
                 [] {
                     keep = sennit::par::transform_reduce(
                         sennit::par::deterministic, std::views::iota(std::size_t{0}, long_n),
                         std::uint64_t{0}, std::plus<>(),
                         [](std::size_t i) { return (i * 0x9E3779B97F4A7C15u) >> 40; });
                 }},
                {"for_each_n, saxpy in cache, 1000 x 8e3",
                 [=] { repeat([=] { plain_saxpy(yp, xp, 0.25f, cached_n); }, 1000); },
                 [=] {
                     repeat(
                         [=] {
                             sennit::par::for_each_n(
                                 cached_n, [=](std::size_t i) { yp[i] += 0.25f * xp[i]; });
                         },
                         1000);
                 }},
                {"for_each_n, 20 square roots each, 2e5", [=] { plain_costly(op, costly_n); },
                 [=] {
                     sennit::par::for_each_n(costly_n, [=](std::size_t i) { op[i] = costly(i); });
                 }},
            };
            for (std::size_t n : short_lengths)
                cases.push_back({n == 100      ? "for_each_n, saxpy, 20 x 1e2"
                                 : n == 1'000  ? "for_each_n, saxpy, 20 x 1e3"
                                 : n == 10'000 ? "for_each_n, saxpy, 20 x 1e4"
                                               : "for_each_n, saxpy, 20 x 1e5",
                                 [=] { repeat([=] { plain_saxpy(yp, xp, 0.25f, n); }, 20); },
                                 [=] {
                                     repeat(
                                         [=] {
                                             sennit::par::for_each_n(
                                                 n, [=](std::size_t i) { yp[i] += 0.25f * xp[i]; });
                                         },
                                         20);
                                 }});
            for (const loop_case& one : cases) {
                const row result = measure(one, rounds);
                std::printf("%-44s %8u %10.4f %9.3f\n", one.name, workers, result.plain_ms,
                            result.ratio);
            }
        });
    }
}
