// SPDX-License-Identifier: Apache-2.0
// pipeline-linear: n numbers pass three stages: a source, a stage that may run in parallel, and a
// sink that needs their order. At most 64 numbers are under way. The stages do next to nothing, so
// the time is that of the pipeline.
//
// A runtime supplies `pipeline(limit, source, change, sink)`: `source(i)` puts the next number into
// i or returns false.
#pragma once

#include "../runtime_base.hpp"

namespace lab {

template <class R>
struct linear_pipeline {
    static constexpr const char* name = "pipeline-linear";
    static constexpr std::size_t limit = 64;
    std::int64_t count;
    explicit linear_pipeline(const std::string& size) : count(parse_size(size, 1, 1'000'000)) {}

    std::int64_t run_in(R& runtime) const {
        std::int64_t next = 0;
        std::int64_t position = 0;
        std::int64_t sum = 0;
        runtime.pipeline(
            limit,
            [&](std::int64_t& i) {
                if (next == count) return false;
                i = next++;
                return true;
            },
            [](std::int64_t i) { return 2 * i + 1; },
            [&](std::int64_t i) { sum += i * ++position; });
        return sum;
    }
    std::int64_t expected() const {
        std::int64_t sum = 0;
        for (std::int64_t i = 0; i < count; ++i) sum += (2 * i + 1) * (i + 1);
        return sum;
    }
    std::int64_t tasks() const { return count; }
};

} // namespace lab
