// SPDX-License-Identifier: Apache-2.0
#include "sennit/base/check.hpp"
#include "sennit/monitor/core.hpp"

#include <algorithm>
#include <functional>

namespace sennit::detail {

void monitor_set::add(monitor& one) noexcept {
    std::size_t place = count_;
    while (place > 0 && std::less<>()(&one, all_[place - 1])) --place;
    if (place > 0 && all_[place - 1] == &one) return;
    SENNIT_CHECK(count_ < most_monitors, "more than 8 monitors at once");
    for (std::size_t i = count_++; i > place; --i) all_[i] = all_[i - 1];
    all_[place] = &one;
}

bool monitor_set::operator==(const monitor_set& other) const noexcept {
    return std::equal(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(count_), other.all_.begin(),
                      other.all_.begin() + static_cast<std::ptrdiff_t>(other.count_));
}

} // namespace sennit::detail
