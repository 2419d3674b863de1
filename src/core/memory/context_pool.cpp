// SPDX-License-Identifier: Apache-2.0
#include "core/memory/context_pool.hpp"

#include <bit>
#include <memory>
#include <new>
#include <stdexcept>

namespace sennit::sched {

context_pool::context_pool(runtime_core& runtime, std::size_t stack_size)
    : runtime_(runtime), usual_(stack_size) {}

context_pool::~context_pool() {
    for (context* one : all_) {
        size_class& from = class_of(*one);
        const sys::stack memory = one->stack;
        std::destroy_at(one);
        from.stacks.give(memory);
    }
}

context_pool::size_class& context_pool::class_of(const context& one) noexcept {
    if (!one.large) return usual_;
    // A little less than its class.
    const auto size = static_cast<std::size_t>(one.stack.high - one.stack.low);
    for (auto& sizes : larger_)
        if (sizes->stacks.usable_size() >= size) return *sizes;
    return usual_; // Not reached: a large context has its class.
}

context& context_pool::take() {
    std::lock_guard guard(mutex_);
    return take_from(usual_, false);
}

context& context_pool::take(std::size_t stack_size) {
    if (stack_size > sys::max_stack_size)
        throw std::invalid_argument(
            "sennit: [SNT-106] fiber_attributes::stack_size must be at most 1 GiB");
    const std::size_t size = std::bit_ceil(stack_size);
    std::lock_guard guard(mutex_);
    std::size_t at = 0;
    while (at < larger_.size() && larger_[at]->stacks.usable_size() < size) ++at;
    if (at == larger_.size() || larger_[at]->stacks.usable_size() != size)
        larger_.insert(larger_.begin() + static_cast<std::ptrdiff_t>(at),
                       std::make_unique<size_class>(size));
    return take_from(*larger_[at], true);
}

context& context_pool::take_from(size_class& from, bool large) {
    if (from.free) {
        context& found = *from.free;
        from.free = found.next_free;
        --free_count_;
        return found;
    }
    // Before anything is taken.
    if (all_.size() == all_.capacity()) all_.reserve(2 * all_.size() + 16);
    const sys::stack memory = from.stacks.take();
    static_assert(alignof(context) <= sys::stack_alignment &&
                  sizeof(context) % alignof(fork_slot) == 0);
    auto* made = ::new (memory.high)
        context(runtime_, static_cast<unsigned>(all_.size()), memory, memory.end);
    made->large = large;
    all_.push_back(made);
    return *made;
}

void context_pool::give(context& idle) noexcept {
    std::lock_guard guard(mutex_);
    size_class& to = class_of(idle);
    idle.next_free = to.free;
    to.free = &idle;
    ++free_count_;
}

const context* context_pool::owner_of_guard(const void* address) const noexcept {
    const auto* where = static_cast<const std::byte*>(address);
    for (const context* one : all_)
        if (where < one->stack.low && where >= one->stack.low - sys::guard_size) return one;
    return nullptr;
}

sys::stack context_pool::stack_of(unsigned index) const noexcept {
    std::lock_guard guard(mutex_);
    return all_[index]->stack;
}

context_pool::counts context_pool::count() const noexcept {
    std::lock_guard guard(mutex_);
    return {all_.size(), free_count_};
}

} // namespace sennit::sched
