// SPDX-License-Identifier: Apache-2.0
#include "sennit/checkpoints.hpp"

#include "sennit/detail/core/now.hpp"
#include "sennit/this_fiber.hpp"

#include <algorithm>

namespace sennit {

namespace {

constexpr std::uint32_t most_passes =
    1024; // between two looks: passes may become slower at any time
constexpr std::int64_t looks_in_a_slice =
    8; // or more: so much later than the slice's end it may be seen

} // namespace

// The stride doubles while looks come faster than eight in a slice, and shrinks at once to what
// would have fitted.
void checkpoints::look() {
    const std::int64_t now = sched::now_ns();
    if (began_ns_ == 0) {
        began_ns_ = looked_ns_ = now;
        left_ = stride_;
        return;
    }
    const std::int64_t took = now - looked_ns_, wanted = slice_ns_ / looks_in_a_slice;
    if (2 * took <= wanted)
        stride_ = std::min(2 * stride_, most_passes);
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
