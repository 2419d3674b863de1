// SPDX-License-Identifier: Apache-2.0
// churn: each fiber releases a random semaphore and then acquires that semaphore, so any other
// fiber may make it ready. Size is the number of acquisitions. The program follows Delisle, The
// C-for-all Scheduler, 2022: 64 fibers, 16 semaphores.
//
// The first 16 fibers omit their first release, so about 16 fibers are blocked at any time. A fiber
// that has done its share releases each semaphore once. When 48 fibers have done so, each semaphore
// has been released more often than fibers can be blocked on it.
#pragma once

#include "count.hpp"
#include "random.hpp"

namespace lab {

template <class R>
struct churn : counted {
    using counted::counted;
    static constexpr std::int64_t strands = 64, spots = 16;

    std::int64_t run() const {
        std::array<typename R::semaphore, spots> all;
        std::array<std::int64_t, strands> counts{};
        std::array<typename R::fiber, strands> fibers;
        for (std::int64_t f = 0; f < strands; ++f)
            fibers[static_cast<std::size_t>(f)] =
                R::start([&all, &counted = counts[static_cast<std::size_t>(f)], f,
                          share = n / strands + (f < n % strands)] {
                    random_numbers chance(f);
                    for (std::int64_t k = 0; k < share; ++k) {
                        typename R::semaphore& spot = all[chance.below(spots)];
                        if (k > 0 || f >= spots) spot.release();
                        spot.acquire();
                        ++counted;
                    }
                    for (auto& spot : all) spot.release();
                });
        std::int64_t sum = 0;
        for (std::size_t f = 0; f < strands; ++f) {
            fibers[f].join();
            sum += counts[f];
        }
        return sum;
    }
};

} // namespace lab
