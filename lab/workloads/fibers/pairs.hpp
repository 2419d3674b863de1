// SPDX-License-Identifier: Apache-2.0
// pairs: 64 pairs of fibers. The fibers of a pair exchange numbers over two rendezvous channels of
// their own, and no pair has anything to do with another. Size is the number of exchanges, there
// and back, of all pairs together; the answer is the number of right replies.
#pragma once

#include "count.hpp"

namespace lab {

// excerpt pairs
template <class R>
struct pairs : counted {
    using counted::counted;
    static constexpr std::int64_t count = 64;

    struct pair {
        typename R::template rendezvous<std::int64_t> there, back;
        std::int64_t right = 0; // Written by the asking fiber.
        typename R::fiber asks, replies;
    };

    std::int64_t run() const {
        std::vector<pair> all(count);
        for (std::int64_t p = 0; p < count; ++p) {
            pair& one = all[static_cast<std::size_t>(p)];
            const std::int64_t share = n / count + (p < n % count);
            one.asks = R::start([&one, share] {
                for (std::int64_t i = 0; i < share; ++i) {
                    one.there.push(i);
                    one.right += one.back.pop() == i + 1;
                }
            });
            one.replies = R::start([&one, share] {
                for (std::int64_t i = 0; i < share; ++i) one.back.push(one.there.pop() + 1);
            });
        }
        std::int64_t right = 0;
        for (pair& one : all) {
            one.asks.join();
            one.replies.join();
            right += one.right;
        }
        return right;
    }
};
// excerpt end

} // namespace lab
