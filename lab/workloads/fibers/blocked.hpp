// SPDX-License-Identifier: Apache-2.0
// fibers-blocked: as many fibers as the size says, all blocked on one event at once, then let go. What it shows is the
// memory that each takes.
#pragma once

#include "count.hpp"

#include <atomic>

namespace lab {

template <class R>
struct fibers_blocked : counted {
    using counted::counted;
    static constexpr bool blocks_many = true;

    std::int64_t run() const {
        typename R::event gate;
        std::atomic<std::int64_t> arrived = 0, passed = 0;
        std::vector<typename R::fiber> all(static_cast<std::size_t>(n));
        for (auto& one : all)
            one = R::start([&] {
                arrived.fetch_add(1, std::memory_order_relaxed);
                gate.wait();
                passed.fetch_add(1, std::memory_order_relaxed);
            });
        while (arrived.load(std::memory_order_relaxed) < n) R::yield();
        gate.set();
        for (auto& one : all) one.join();
        return passed.load(std::memory_order_relaxed);
    }
};

} // namespace lab
