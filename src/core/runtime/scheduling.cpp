// SPDX-License-Identifier: Apache-2.0
#include "sennit/scheduling.hpp"

#include "core/switch/context.hpp"
#include "sennit/detail/core/fiber_block.hpp"

#include <algorithm>
#include <bit>

namespace sennit {

const fiber_properties* properties_of(const ready_item& item) noexcept {
    if (item.run == &sched::fiber_block::run_queued)
        return static_cast<const sched::fiber_block&>(item).properties();
    if (item.run != &sched::context::resume_ready) return nullptr;
    const sched::strand* who = static_cast<const sched::context&>(item).saved_strand;
    return who->fiber ? static_cast<const sched::fiber_block*>(who->fiber)->properties() : nullptr;
}

namespace {
std::size_t level_of(const ready_item& item) noexcept {
    const int priority =
        std::clamp(priority_of(item), priority_order::lowest, priority_order::highest);
    return static_cast<std::size_t>(priority - priority_order::lowest);
}
} // namespace

void priority_order::push(ready_item& item) noexcept {
    const std::size_t level = level_of(item);
    levels_[level].push_back(item);
    used_ |= 1u << level;
}

ready_item* priority_order::pop() noexcept {
    if (used_ == 0) return nullptr;
    const auto level = static_cast<std::size_t>(std::bit_width(used_) - 1);
    ready_item* item = levels_[level].pop_front();
    if (levels_[level].empty()) used_ &= ~(1u << level);
    return item;
}

void priority_order::remove(ready_item& item) noexcept {
    const std::size_t level = level_of(item);
    levels_[level].remove(item);
    if (levels_[level].empty()) used_ &= ~(1u << level);
}

} // namespace sennit
