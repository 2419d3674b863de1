// SPDX-License-Identifier: Apache-2.0
#include "sennit/detail/base/check.hpp"
#include "sennit/monitor/core.hpp"

#include <functional>

namespace sennit::detail {

void monitor_set::add(monitor& one) noexcept {
    std::size_t place = count_;
    while (place > 0 && std::less<>()(&one, all_[place - 1])) --place;
    if (place > 0 && all_[place - 1] == &one) return;
    SENNIT_CHECK(count_ < max_monitors,
                 "[SNT-407] more than 8 monitors were named at once; enter at most 8 together");
    for (std::size_t i = count_++; i > place; --i) all_[i] = all_[i - 1];
    all_[place] = &one;
}

bool monitor_set::within(const monitor_set& other) const noexcept {
    std::size_t found = 0; // both sets are in order
    for (std::size_t k = 0; k < other.count_ && found < count_; ++k)
        if (all_[found] == other.all_[k]) ++found;
    return found == count_;
}

} // namespace sennit::detail
