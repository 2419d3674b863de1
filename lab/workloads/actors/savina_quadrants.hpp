// SPDX-License-Identifier: Apache-2.0
// savina-facloc: n customers in a square of 500 × 500 are assigned to facilities, one after the
// other. An actor has a quadrant. It keeps its customers, and adds up their distances to the
// nearest facility that it knows. When the sum exceeds a limit, it opens a facility at its centre,
// tells the actor above, and creates an actor for each of its four quadrants, which take its
// customers over. News of a facility goes up the tree, and from each actor there down to the
// quadrant on the other side of the diagonal.
//
// The news travel beside the customers, so the number of facilities differs from run to run, as in
// the suite. The answer is the number of customers that the quadrants have in the end.
#pragma once

#include "savina.hpp"

#include <array>

namespace lab::savina {

struct facloc_size : actor_workload {
    using actor_workload::actor_workload;
    static constexpr double side = 500, limit = 2 * 1.4142135623730951 * side;
    static constexpr std::int64_t seed = 123'456 % 65'536;

    struct point {
        double x, y;
        double distance(const point& other) const { return std::hypot(x - other.x, y - other.y); }
    };
    // Of numbers of 16 bits, so no customer lies on a border by rounding.
    static point customer(random& numbers) {
        const double x = static_cast<double>(numbers.next()) / 65'536 * side;
        return {x, static_cast<double>(numbers.next()) / 65'536 * side};
    }

    // A quadrant without its actor.
    struct quadrant {
        double x1 = 0, y1 = 0, x2 = side, y2 = side;
        std::vector<point> facilities{}; // that it knows
        std::vector<point> customers{};
        double cost = 0;

        point centre() const { return {(x1 + x2) / 2, (y1 + y2) / 2}; }
        // Returns true if the quadrant must be split.
        bool add(const point& customer) {
            double nearest = centre().distance(customer);
            for (const point& one : facilities) nearest = std::min(nearest, one.distance(customer));
            customers.push_back(customer);
            cost += nearest;
            return cost > limit;
        }
        std::size_t part_of(const point& at) const {
            return (at.x >= centre().x ? 1u : 0u) + (at.y >= centre().y ? 2u : 0u);
        }
        // The four quadrants, with the customers of this one. Diagonal parts add up to 3.
        std::array<quadrant, 4> split() {
            const point at = centre();
            facilities.push_back(at);
            std::array<quadrant, 4> parts{{{x1, y1, at.x, at.y, facilities},
                                           {at.x, y1, x2, at.y, facilities},
                                           {x1, at.y, at.x, y2, facilities},
                                           {at.x, at.y, x2, y2, facilities}}};
            for (const point& one : customers) parts[part_of(one)].add(one);
            customers.clear();
            return parts;
        }
    };
};

} // namespace lab::savina
