// SPDX-License-Identifier: Apache-2.0
// select-two: two producers, each with a rendezvous channel, and one consumer that takes from the
// channel that is ready. Size is the number of messages of both producers together.
#pragma once

#include "count.hpp"

namespace lab {

// excerpt select-two
template <class R>
struct select_two : summed {
    using summed::summed;

    std::int64_t run() const {
        using channel = typename R::template rendezvous<std::int64_t>;
        channel low, high;
        const auto produce = [](channel& to, std::int64_t first, std::int64_t end) {
            return R::start([&to, first, end] {
                for (std::int64_t i = first; i < end; ++i) to.push(i);
            });
        };
        std::int64_t sum = 0;
        typename R::fiber a = produce(low, 0, n / 2), b = produce(high, n / 2, n);
        typename R::fiber consumer = R::start([&low, &high, &sum, count = n] {
            std::int64_t so_far = 0;
            for (std::int64_t i = 0; i < count; ++i)
                R::select(low, high, [&](std::int64_t value) { so_far += value; });
            sum = so_far;
        });
        a.join();
        b.join();
        consumer.join();
        return sum;
    }
};
// excerpt end

} // namespace lab
