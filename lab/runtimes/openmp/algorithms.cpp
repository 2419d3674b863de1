// SPDX-License-Identifier: Apache-2.0
// OpenMP: parallel loops, with a reduction, an inclusive scan, and a reduction of an array.
#include "algorithms/main.hpp"

#include <omp.h>

namespace {

struct openmp_algorithms {
    explicit openmp_algorithms(unsigned threads) { omp_set_num_threads(static_cast<int>(threads)); }

    void scan(const lab::numbers& in, lab::numbers& out) {
        lab::number sum = 0;
#pragma omp parallel for reduction(inscan, + : sum)
        for (std::size_t i = 0; i < in.size(); ++i) {
            sum += in[i];
#pragma omp scan inclusive(sum)
            out[i] = sum;
        }
    }
    lab::number reduce(const lab::numbers& in) {
        lab::number sum = 0;
#pragma omp parallel for reduction(+ : sum)
        for (std::size_t i = 0; i < in.size(); ++i) sum += in[i];
        return sum;
    }
    void transform(const lab::numbers& in, lab::numbers& out) {
#pragma omp parallel for
        for (std::size_t i = 0; i < in.size(); ++i) out[i] = lab::changed(in[i]);
    }
    lab::counts_of_bytes histogram(const lab::numbers& in) {
        lab::counts_of_bytes all{};
        std::size_t* const counts = all.data();
#pragma omp parallel for reduction(+ : counts[ : 256])
        for (std::size_t i = 0; i < in.size(); ++i) ++counts[lab::bucket_of(in[i])];
        return all;
    }
};

} // namespace

std::optional<int> lab::run_algorithms(const std::string& name, const std::string& size,
                                       unsigned threads) {
    return algorithms<openmp_algorithms>::run(name, size, threads);
}
