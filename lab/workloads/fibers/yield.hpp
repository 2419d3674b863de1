// SPDX-License-Identifier: Apache-2.0
// fiber-yield: two fibers yield to each other. Size is the number of yields of both together.
#pragma once

#include "count.hpp"

namespace lab {

// excerpt fiber-yield
template <class R>
struct fiber_yield : counted {
    using counted::counted;

    std::int64_t run() const {
        const auto half = [](std::int64_t share, std::int64_t& done) {
            return R::start([share, &done] {
                std::int64_t count = 0;
                for (; count < share; ++count) R::yield();
                done = count;
            });
        };
        std::int64_t a = 0, b = 0;
        typename R::fiber first = half(n - n / 2, a), second = half(n / 2, b);
        first.join();
        second.join();
        return a + b;
    }
};
// excerpt end

} // namespace lab
