// SPDX-License-Identifier: Apache-2.0
// transfer: 16 fibers elect leaders. A leader begins an epoch and spins, without yielding, until
// all fibers have seen the epoch. Then it names a random next leader. The other fibers yield until
// they see a new epoch. Size is the number of elections. The workload shows whether and how soon
// ready fibers run that are queued behind a fiber that makes no progress. It follows Delisle, The
// C-for-all Scheduler, 2022 (the variant without parking).
#pragma once

#include "count.hpp"
#include "random.hpp"

#include <atomic>

namespace lab {

template <class R>
struct transfer : counted {
    using counted::counted;
    static constexpr std::int64_t strands = 16;

    std::int64_t run() const {
        std::atomic<std::int64_t> epoch = 0, seen = 0, leader = 0;
        random_numbers chance(0);   // used by the leader
        std::int64_t elections = 0; // written by the leader
        const auto body = [&](std::int64_t me) {
            for (std::int64_t mine = 1; mine <= n;) {
                if (epoch.load() >= mine) {
                    seen.fetch_add(1);
                    ++mine;
                } else if (leader.load() == me) {
                    leader = -1;
                    seen = 1;
                    epoch = mine;
                    while (seen.load() < strands) {
                    }
                    ++elections;
                    leader = static_cast<std::int64_t>(chance.below(strands));
                    ++mine;
                } else {
                    R::yield();
                }
            }
        };
        std::array<typename R::fiber, strands> fibers;
        for (std::int64_t f = 0; f < strands; ++f)
            fibers[static_cast<std::size_t>(f)] = R::start([&body, f] { body(f); });
        for (auto& one : fibers) one.join();
        return elections;
    }
};

} // namespace lab
