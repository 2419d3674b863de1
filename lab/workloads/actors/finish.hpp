// SPDX-License-Identifier: Apache-2.0
// Where the actors of one run leave their result, and where the program waits for it.
#pragma once

#include <atomic>
#include <cstdint>

namespace lab {

// Event has wait() and set(). An event that has been set stays set.
template <class Event>
struct finish_with {
    std::atomic<std::int64_t> answer{0};
    std::atomic<std::int64_t> left{1};
    Event done;
    void one_more(std::int64_t part) {
        answer += part;
        if (--left == 0) done.set();
    }
    std::int64_t wait() {
        done.wait();
        return answer;
    }
};

} // namespace lab
