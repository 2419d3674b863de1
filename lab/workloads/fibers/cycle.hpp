// SPDX-License-Identifier: Apache-2.0
// cycle: rings of fibers that pass a token on. Each fiber waits for its own semaphore and then
// releases the semaphore of the next fiber. Size is the number of hops of all tokens together. The
// program follows Delisle, The C-for-all Scheduler, 2022: 20 rings of 5.
#pragma once

#include "count.hpp"

namespace lab {

template <class R>
struct cycle : counted {
    using counted::counted;
    static constexpr std::int64_t rings = 20, members = 5;

    struct ring {
        std::array<typename R::semaphore, members> own;
        std::int64_t hops = 0; // written by the fiber that has the token
        std::array<typename R::fiber, members> fibers;
    };

    std::int64_t run() const {
        std::vector<ring> all(rings);
        for (std::int64_t r = 0; r < rings; ++r) {
            ring& one = all[static_cast<std::size_t>(r)];
            const std::int64_t share = n / rings + (r < n % rings);
            for (std::int64_t i = 0; i < members; ++i)
                one.fibers[static_cast<std::size_t>(i)] =
                    R::start([&one, i, mine = share / members + (i < share % members)] {
                        typename R::semaphore& own = one.own[static_cast<std::size_t>(i)];
                        typename R::semaphore& next =
                            one.own[static_cast<std::size_t>((i + 1) % members)];
                        for (std::int64_t k = 0; k < mine; ++k) {
                            own.acquire();
                            ++one.hops;
                            next.release();
                        }
                    });
        }
        for (ring& one : all) one.own[0].release();
        std::int64_t hops = 0;
        for (ring& one : all) {
            for (auto& fiber : one.fibers) fiber.join();
            hops += one.hops;
        }
        return hops;
    }
};

} // namespace lab
