// SPDX-License-Identifier: Apache-2.0
// mutex-each, channel-each: as many fibers as there are workers, so that every worker is busy. Each
// fiber locks and unlocks a mutex of its own, or puts a number into a channel of its own and takes
// it out again. No fiber waits for another. Size is the number of operations of all fibers
// together; the answer is the number of operations that had the right effect.
#pragma once

#include "count.hpp"

#include <memory>

namespace lab {

// One fiber for each worker, which calls `step(own)` over and over with an object `Own` of its own,
// on cache lines of its own. Returns the number of calls that returned true.
template <class R, class Own, class Step>
std::int64_t for_each_worker(unsigned workers, std::int64_t n, Step step) {
    struct alignas(128) place {
        Own own;
        std::int64_t right = 0;
    };
    std::vector<std::unique_ptr<place>> places;
    std::vector<typename R::fiber> all;
    const auto parts = static_cast<std::int64_t>(workers);
    for (std::int64_t i = 0; i < parts; ++i) {
        place* const mine = places.emplace_back(std::make_unique<place>()).get();
        all.push_back(R::start([mine, step, share = n / parts + (i < n % parts)] {
            std::int64_t right = 0;
            for (std::int64_t k = 0; k < share; ++k) right += step(mine->own, k);
            mine->right = right;
        }));
    }
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].join();
        sum += places[i]->right;
    }
    return sum;
}

// excerpt mutex-each
template <class R>
struct mutex_each : counted {
    unsigned workers;
    mutex_each(const std::string& size, unsigned threads) : counted(size), workers(threads) {}

    struct guarded {
        typename R::mutex mutex;
        std::int64_t count = 0; // Guarded by the mutex.
    };

    std::int64_t run() const {
        return for_each_worker<R, guarded>(workers, n, [](guarded& own, std::int64_t k) {
            own.mutex.lock();
            const bool right = own.count++ == k;
            own.mutex.unlock();
            return right;
        });
    }
};
// excerpt end

// excerpt channel-each
template <class R>
struct channel_each : counted {
    unsigned workers;
    channel_each(const std::string& size, unsigned threads) : counted(size), workers(threads) {}

    struct numbers {
        typename R::template buffered<std::int64_t> channel{128};
    };

    std::int64_t run() const {
        return for_each_worker<R, numbers>(workers, n, [](numbers& own, std::int64_t k) {
            own.channel.push(k);
            return own.channel.pop() == k;
        });
    }
};
// excerpt end

} // namespace lab
