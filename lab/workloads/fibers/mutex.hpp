// SPDX-License-Identifier: Apache-2.0
// mutex-free: one fiber locks and unlocks a mutex without contention. mutex-contended: four fibers
// use one mutex. Size is the number of pairs of lock and unlock of all fibers together.
#pragma once

#include "count.hpp"

namespace lab {

// excerpt mutex

// Runs `fibers` fibers that count to n together, with one lock around each step.
template <class R, std::size_t fibers>
std::int64_t count_locked(std::int64_t n) {
    typename R::mutex mutex;
    std::int64_t count = 0; // guarded by the mutex
    std::array<typename R::fiber, fibers> all;
    for (std::size_t i = 0; i < fibers; ++i) {
        const auto position = static_cast<std::int64_t>(i),
                   parts = static_cast<std::int64_t>(fibers);
        const std::int64_t share = n / parts + (position < n % parts);
        all[i] = R::start([&mutex, &count, share] {
            for (std::int64_t step = 0; step < share; ++step) {
                mutex.lock();
                ++count;
                mutex.unlock();
            }
        });
    }
    for (auto& one : all) one.join();
    return count;
}
// excerpt end

template <class R>
struct mutex_free : counted {
    using counted::counted;
    std::int64_t run() const { return count_locked<R, 1>(n); }
};

template <class R>
struct mutex_contended : counted {
    using counted::counted;
    std::int64_t run() const { return count_locked<R, 4>(n); }
};

} // namespace lab
