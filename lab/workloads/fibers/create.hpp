// SPDX-License-Identifier: Apache-2.0
// fiber-create: fibers that only count are created and joined one after the other. Size is the
// number of fibers.
#pragma once

#include "count.hpp"

namespace lab {

// excerpt fiber-create
template <class R>
struct fiber_create : counted {
    using counted::counted;

    std::int64_t run() const {
        std::int64_t count = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            typename R::fiber one = R::start([&count] { ++count; });
            one.join();
        }
        return count;
    }
};
// excerpt end

} // namespace lab
