// SPDX-License-Identifier: Apache-2.0
// A frame of a function whose stack may be abandoned for good. The frame counts whether each such
// frame has ended.
#pragma once

#include <atomic>

namespace soak {

struct frame {
    explicit frame(std::atomic<int>& live) : count(live) { ++count; }
    frame(const frame&) = delete;
    ~frame() { --count; }
    std::atomic<int>& count;
};

} // namespace soak
