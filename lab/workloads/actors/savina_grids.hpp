// SPDX-License-Identifier: Apache-2.0
// savina-sor: 100 rounds of successive over-relaxation of n × n numbers, with an actor for each
// number. The actors are coloured like a chess board. In each round the black actors take the
// values of their red neighbours, and the red actors then take the new values of their black
// neighbours. The answer is the sum of all values that the actors compute, each rounded.
//
// An actor computes when it has the values of all its neighbours, and adds them up in a fixed
// order. No value therefore depends on time. The first values are whole numbers, so a value that
// lies exactly between two whole numbers is computed without error. The suite adds the values up in
// the order of arrival, begins with millionths, and joins two halves of the grid by further actors.
#pragma once

#include "savina.hpp"

#include <array>

namespace lab::savina {

struct sor_size : actor_workload {
    explicit sor_size(const std::string& size) : actor_workload(size) {
        n = parse_size(size, 2, 500);
    }
    static constexpr std::int64_t rounds = 100;
    static constexpr double omega = 1.25;

    // The values to the left, to the right, above and below; 0 where there is no neighbour
    using around = std::array<double, 4>;
    static double next(double own, const around& values) {
        const double sum = values[0] + values[1] + values[2] + values[3];
        return omega / 4 * sum + (1 - omega) * own;
    }
    static std::int64_t rounded(double value) {
        return static_cast<std::int64_t>(std::floor(value + 0.5));
    }
    static bool red(std::int64_t row, std::int64_t column) { return (row + column) % 2 == 0; }
    bool inside(std::int64_t row, std::int64_t column) const {
        return row >= 0 && row < n && column >= 0 && column < n;
    }
    std::vector<double> numbers() const {
        random from(n);
        std::vector<double> all(static_cast<std::size_t>(n * n));
        for (double& one : all) one = static_cast<double>(from.next());
        return all;
    }
    std::int64_t tasks() const { return rounds * n * n; } // new values
    std::int64_t expected() const {
        std::vector<double> all = numbers();
        const auto value = [&](std::int64_t row, std::int64_t column) {
            return inside(row, column) ? all[static_cast<std::size_t>(row * n + column)] : 0;
        };
        std::int64_t sum = 0;
        for (std::int64_t step = 0; step < 2 * rounds; ++step)
            for (std::int64_t i = 0; i < n; ++i)
                for (std::int64_t j = 0; j < n; ++j)
                    if (red(i, j) == (step % 2 == 1)) {
                        auto& one = all[static_cast<std::size_t>(i * n + j)];
                        one = next(one, {value(i, j - 1), value(i, j + 1), value(i - 1, j),
                                         value(i + 1, j)});
                        sum += rounded(one);
                    }
        return sum;
    }
};

} // namespace lab::savina
