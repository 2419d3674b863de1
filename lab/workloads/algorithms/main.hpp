// SPDX-License-Identifier: Apache-2.0
// The workloads of parallel algorithms. A runtime supplies the class that `rows.hpp` describes.
// These workloads are a source file of their own in each program, `algorithms.cpp`.
#pragma once

#include "../main.hpp"
#include "rows.hpp"

namespace lab {

template <class R>
struct algorithms {
    static std::optional<int> run(const std::string& name, const std::string& size,
                                  unsigned threads) {
        return first_of<sort_row, stable_sort_row, scan_row, reduce_row, transform_row, find_row,
                        partition_row, merge_row, set_union_row, histogram_row>(name, size,
                                                                                threads);
    }

private:
    template <class Row, class... More>
    static std::optional<int> first_of(const std::string& name, const std::string& size,
                                       unsigned threads) {
        if constexpr (requires(R& runtime, algorithm_data& data) { Row::run(runtime, data); })
            if (name == Row::name) return measure<R>(algorithm_workload<R, Row>(size), threads);
        if constexpr (sizeof...(More) != 0)
            return first_of<More...>(name, size, threads);
        else
            return std::nullopt;
    }
};

} // namespace lab
