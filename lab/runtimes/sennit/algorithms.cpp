// SPDX-License-Identifier: Apache-2.0
#include "algorithms/main.hpp"
#include "with_runtime.hpp"

#include <sennit/par.hpp>

namespace {

namespace par = sennit::par;

struct sennit_algorithms : with_runtime {
    using with_runtime::with_runtime;

    void sort(lab::numbers& v) {
        runtime.run([&] { par::sort(v); });
    }
    void stable_sort(lab::numbers& v) {
        runtime.run([&] { par::stable_sort(v); });
    }
    void scan(const lab::numbers& in, lab::numbers& out) {
        runtime.run([&] { par::inclusive_scan(in, out); });
    }
    lab::number reduce(const lab::numbers& in) {
        return runtime.run([&] { return par::reduce(in, lab::number{0}); });
    }
    void transform(const lab::numbers& in, lab::numbers& out) {
        runtime.run([&] { par::transform(in, out, lab::changed); });
    }
    std::size_t find(const lab::numbers& in, lab::number wanted) {
        return runtime.run(
            [&] { return static_cast<std::size_t>(par::find(in, wanted) - in.begin()); });
    }
    std::size_t partition(lab::numbers& v) {
        return runtime.run([&] {
            return static_cast<std::size_t>(par::partition(v, lab::goes_left).begin() - v.begin());
        });
    }
    void merge(const lab::numbers& a, const lab::numbers& b, lab::numbers& out) {
        runtime.run([&] { par::merge(a, b, out); });
    }
    std::size_t set_union(const lab::numbers& a, const lab::numbers& b, lab::numbers& out) {
        return runtime.run(
            [&] { return static_cast<std::size_t>(par::set_union(a, b, out).out - out.begin()); });
    }
    lab::counts_of_bytes histogram(const lab::numbers& in) {
        return runtime.run([&] {
            lab::counts_of_bytes counts{};
            std::ranges::copy(par::histogram(in, counts.size(), lab::bucket_of), counts.begin());
            return counts;
        });
    }
};

} // namespace

std::optional<int> lab::run_algorithms(const std::string& name, const std::string& size,
                                       unsigned threads) {
    return algorithms<sennit_algorithms>::run(name, size, threads);
}
