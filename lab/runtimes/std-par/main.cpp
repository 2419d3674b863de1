// SPDX-License-Identifier: Apache-2.0
// The parallel algorithms of libstdc++, which run on oneTBB.
#include "algorithms/main.hpp"

#include <tbb/global_control.h>

#include <execution>

namespace {

struct with_std_par {
    tbb::global_control limit;
    explicit with_std_par(unsigned threads)
        : limit(tbb::global_control::max_allowed_parallelism, threads) {}

    static constexpr auto& par = std::execution::par;

    void sort(lab::numbers& v) { std::sort(par, v.begin(), v.end()); }
    void stable_sort(lab::numbers& v) { std::stable_sort(par, v.begin(), v.end()); }
    void scan(const lab::numbers& in, lab::numbers& out) {
        std::inclusive_scan(par, in.begin(), in.end(), out.begin());
    }
    lab::number reduce(const lab::numbers& in) {
        return std::reduce(par, in.begin(), in.end(), lab::number{0});
    }
    void transform(const lab::numbers& in, lab::numbers& out) {
        std::transform(par, in.begin(), in.end(), out.begin(), lab::changed);
    }
    std::size_t find(const lab::numbers& in, lab::number wanted) {
        return static_cast<std::size_t>(std::find(par, in.begin(), in.end(), wanted) - in.begin());
    }
    std::size_t partition(lab::numbers& v) {
        return static_cast<std::size_t>(std::partition(par, v.begin(), v.end(), lab::goes_left) -
                                        v.begin());
    }
    void merge(const lab::numbers& a, const lab::numbers& b, lab::numbers& out) {
        std::merge(par, a.begin(), a.end(), b.begin(), b.end(), out.begin());
    }
    std::size_t set_union(const lab::numbers& a, const lab::numbers& b, lab::numbers& out) {
        return static_cast<std::size_t>(
            std::set_union(par, a.begin(), a.end(), b.begin(), b.end(), out.begin()) - out.begin());
    }
};

} // namespace

int main(int argc, char** argv) {
    return lab::program<lab::algorithms<with_std_par>>(argc, argv);
}
