// SPDX-License-Identifier: Apache-2.0
#include "sennit/checkpoints.hpp"

#include "sennit/detail/core/now.hpp"
#include "sennit/this_fiber.hpp"

#include <algorithm>

namespace sennit {

namespace {

// The limit of passes between two readings of the clock, because passes may become slower at any
// time.
constexpr std::uint32_t max_passes = 1024;
// At least so many readings per slice: the end of a slice is noticed at most 1/8 of a slice late.
constexpr std::int64_t looks_in_a_slice = 8;

} // namespace

// Reads the clock. The stride doubles while readings come faster than eight in a slice. It shrinks
// immediately to the value that would have fitted.
void checkpoints::look() {
    const std::int64_t now = sched::now_ns();
    if (began_ns_ == 0) {
        began_ns_ = looked_ns_ = now;
        left_ = stride_;
        return;
    }
    const std::int64_t took = now - looked_ns_, wanted = slice_ns_ / looks_in_a_slice;
    if (2 * took <= wanted)
        stride_ = std::min(2 * stride_, max_passes);
    else if (took > wanted)
        stride_ = static_cast<std::uint32_t>(std::max<std::int64_t>(1, stride_ * wanted / took));
    looked_ns_ = now;
    left_ = stride_;
    if (now - began_ns_ < slice_ns_) return;
    this_fiber::checkpoint(); // throws cancelled
    this_fiber::yield();
    began_ns_ = looked_ns_ = sched::now_ns();
}

} // namespace sennit
