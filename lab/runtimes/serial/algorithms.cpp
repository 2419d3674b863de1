// SPDX-License-Identifier: Apache-2.0
// The floor: the serial algorithms of std.
#include "algorithms/main.hpp"

namespace {

struct serial_algorithms {
    explicit serial_algorithms(unsigned) {}

    void sort(lab::numbers& v) { std::sort(v.begin(), v.end()); }
    void stable_sort(lab::numbers& v) { std::stable_sort(v.begin(), v.end()); }
    void scan(const lab::numbers& in, lab::numbers& out) {
        std::inclusive_scan(in.begin(), in.end(), out.begin());
    }
    lab::number reduce(const lab::numbers& in) {
        return std::accumulate(in.begin(), in.end(), lab::number{0});
    }
    void transform(const lab::numbers& in, lab::numbers& out) {
        std::transform(in.begin(), in.end(), out.begin(), lab::changed);
    }
    std::size_t find(const lab::numbers& in, lab::number wanted) {
        return static_cast<std::size_t>(std::find(in.begin(), in.end(), wanted) - in.begin());
    }
    std::size_t partition(lab::numbers& v) {
        return static_cast<std::size_t>(std::partition(v.begin(), v.end(), lab::goes_left) -
                                        v.begin());
    }
    void merge(const lab::numbers& a, const lab::numbers& b, lab::numbers& out) {
        std::merge(a.begin(), a.end(), b.begin(), b.end(), out.begin());
    }
    std::size_t set_union(const lab::numbers& a, const lab::numbers& b, lab::numbers& out) {
        return static_cast<std::size_t>(
            std::set_union(a.begin(), a.end(), b.begin(), b.end(), out.begin()) - out.begin());
    }
    lab::counts_of_bytes histogram(const lab::numbers& in) {
        lab::counts_of_bytes counts{};
        for (lab::number v : in) ++counts[lab::bucket_of(v)];
        return counts;
    }
};

} // namespace

std::optional<int> lab::run_algorithms(const std::string& name, const std::string& size,
                                       unsigned threads) {
    return algorithms<serial_algorithms>::run(name, size, threads);
}
