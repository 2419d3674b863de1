// SPDX-License-Identifier: Apache-2.0
// fiber-create-block: fibers that each block once, made and joined one after the other. A fiber
// receives a number from a rendezvous channel. Its parent yields before it sends the number, so
// that the fiber has begun and blocks: with one worker each fiber does. Size is the number of
// fibers; the answer is the sum of the numbers.
#pragma once

#include "count.hpp"

namespace lab {

// excerpt fiber-create-block
template <class R>
struct fiber_create_block : summed {
    using summed::summed;

    std::int64_t run() const {
        typename R::template rendezvous<std::int64_t> numbers;
        std::int64_t sum = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            typename R::fiber one = R::start([&numbers, &sum] { sum += numbers.pop(); });
            R::yield();
            numbers.push(i);
            one.join();
        }
        return sum;
    }
};
// excerpt end

} // namespace lab
