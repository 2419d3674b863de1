// SPDX-License-Identifier: Apache-2.0
// parallel_sort, parallel_scan, parallel_reduce and parallel_for of oneTBB.
#include "algorithms/main.hpp"

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_scan.h>
#include <tbb/parallel_sort.h>

namespace {

struct tbb_algorithms {
    using range = tbb::blocked_range<std::size_t>;

    tbb::global_control limit;
    explicit tbb_algorithms(unsigned threads)
        : limit(tbb::global_control::max_allowed_parallelism, threads) {}

    void sort(lab::numbers& v) { tbb::parallel_sort(v.begin(), v.end()); }
    void scan(const lab::numbers& in, lab::numbers& out) {
        tbb::parallel_scan(
            range(0, in.size()), lab::number{0},
            [&](const range& r, lab::number sum, bool final) {
                for (std::size_t i = r.begin(); i != r.end(); ++i) {
                    sum += in[i];
                    if (final) out[i] = sum;
                }
                return sum;
            },
            std::plus<>());
    }
    lab::number reduce(const lab::numbers& in) {
        return tbb::parallel_reduce(
            range(0, in.size()), lab::number{0},
            [&](const range& r, lab::number sum) {
                for (std::size_t i = r.begin(); i != r.end(); ++i) sum += in[i];
                return sum;
            },
            std::plus<>());
    }
    void transform(const lab::numbers& in, lab::numbers& out) {
        tbb::parallel_for(range(0, in.size()), [&](const range& r) {
            for (std::size_t i = r.begin(); i != r.end(); ++i) out[i] = lab::changed(in[i]);
        });
    }
    lab::counts_of_bytes histogram(const lab::numbers& in) {
        return tbb::parallel_reduce(
            range(0, in.size()), lab::counts_of_bytes{},
            [&](const range& r, lab::counts_of_bytes counts) {
                for (std::size_t i = r.begin(); i != r.end(); ++i) ++counts[lab::bucket_of(in[i])];
                return counts;
            },
            [](lab::counts_of_bytes a, const lab::counts_of_bytes& b) {
                for (std::size_t i = 0; i != a.size(); ++i) a[i] += b[i];
                return a;
            });
    }
};

} // namespace

std::optional<int> lab::run_algorithms(const std::string& name, const std::string& size,
                                       unsigned threads) {
    return algorithms<tbb_algorithms>::run(name, size, threads);
}
