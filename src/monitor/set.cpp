// SPDX-License-Identifier: Apache-2.0
#include "sennit/base/check.hpp"
#include "sennit/monitor/core.hpp"

#include <algorithm>
#include <functional>

namespace sennit::detail {

void monitor_set::add(monitor& one) noexcept {
    const auto end = all_.begin() + static_cast<std::ptrdiff_t>(count_);
    const auto place = std::lower_bound(all_.begin(), end, &one, std::less<>());
    if (place != end && *place == &one) return;
    SENNIT_CHECK(count_ < most_monitors, "more than 8 monitors at once");
    std::move_backward(place, end, end + 1);
    *place = &one;
    ++count_;
}

bool monitor_set::operator==(const monitor_set& other) const noexcept {
    return std::equal(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(count_), other.all_.begin(),
                      other.all_.begin() + static_cast<std::ptrdiff_t>(other.count_));
}

} // namespace sennit::detail
