// SPDX-License-Identifier: Apache-2.0
// fibers-blocked: as many fibers as the size says all block on one event before it is set. The
// workload shows the memory of a blocked fiber.
#pragma once

#include "count.hpp"
#include "crew.hpp"

namespace lab {

template <class R>
struct fibers_blocked : counted {
    using counted::counted;
    static constexpr bool blocks_many = true;

    std::int64_t run() const {
        return crew_at_gate<R>(n, [](auto& gate) {
            gate.wait();
            return true;
        });
    }
};

} // namespace lab
