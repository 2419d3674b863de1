// SPDX-License-Identifier: Apache-2.0
// savina-bitonicsort: n numbers pass through a sorting network, a pipeline with an actor for each
// of its stages. A stage compares the numbers that lie a certain distance apart. The answer is the
// sum of the numbers, if they arrive in order.
//
// Each stage receives its numbers from one actor, in the order of sending, so the answer does not
// depend on time. The suite builds each stage from several actors, which split, compare and join.
#pragma once

#include "savina.hpp"

#include <stdexcept>

namespace lab::savina {

struct bitonicsort_size : actor_workload {
    explicit bitonicsort_size(const std::string& size) : actor_workload(size) {
        n = parse_size(size, 2, 65'536);
        if ((n & (n - 1)) != 0)
            throw std::invalid_argument("size must be a power of two, not '" + size + "'");
    }
    static constexpr std::int64_t seed = 2'048;

    class stage {
    public:
        stage(std::int64_t block, std::int64_t distance)
            : block_(block), distance_(distance), kept_(static_cast<std::size_t>(distance)) {}
        template <class F>
        void take(std::int64_t value, F send) {
            const std::int64_t at = taken_ % (2 * distance_);
            auto& kept = kept_[static_cast<std::size_t>(at % distance_)];
            const bool first = at < distance_, ascending = (taken_ & block_) == 0;
            ++taken_;
            if (first) {
                kept = value;
                return;
            }
            if ((kept > value) == ascending) std::swap(kept, value);
            send(kept);
            kept = value;
            if (at + 1 < 2 * distance_) return;
            for (const std::int64_t one : kept_) send(one);
        }

    private:
        std::int64_t block_, distance_, taken_ = 0;
        std::vector<std::int64_t> kept_;
    };
    std::vector<stage> stages() const {
        std::vector<stage> all;
        for (std::int64_t block = 2; block <= n; block *= 2)
            for (std::int64_t distance = block / 2; distance > 0; distance /= 2)
                all.emplace_back(block, distance);
        return all;
    }
    std::int64_t expected() const { return sum_of_random(seed, n); }
    std::int64_t tasks() const { return static_cast<std::int64_t>(stages().size()) * n; }
};

} // namespace lab::savina
