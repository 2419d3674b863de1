// SPDX-License-Identifier: Apache-2.0
// sleepers: as many fibers as the size says, each of which sleeps for a time of its own, up to
// 100 ms.
#pragma once

#include "count.hpp"

#include <atomic>
#include <chrono>

namespace lab {

// The time that a sleeper sleeps, equal in every runtime: microseconds from 0 to 99,999, spread by
// a multiplicative hash.
inline std::chrono::microseconds nap(std::int64_t sleeper) {
    const std::uint64_t mixed = static_cast<std::uint64_t>(sleeper) * 0x9E3779B97F4A7C15u;
    return std::chrono::microseconds((mixed >> 32) % 100'000);
}

// excerpt sleepers
template <class R>
struct sleepers : counted {
    using counted::counted;
    static constexpr bool blocks_many = true;

    std::int64_t run() const {
        std::atomic<std::int64_t> woken = 0;
        std::vector<typename R::fiber> all(static_cast<std::size_t>(n));
        for (std::int64_t i = 0; i < n; ++i)
            all[static_cast<std::size_t>(i)] = R::start([&woken, i] {
                R::sleep_for(nap(i));
                woken.fetch_add(1, std::memory_order_relaxed);
            });
        for (auto& one : all) one.join();
        return woken.load(std::memory_order_relaxed);
    }
};
// excerpt end

} // namespace lab
