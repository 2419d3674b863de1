// SPDX-License-Identifier: Apache-2.0
#include "sched/context_pool.hpp"

namespace sennit::sched {

namespace {
constexpr std::ptrdiff_t guard_reach = 64 * 1024; // bytes below a stack that count as its overflow
} // namespace

// A fork takes one slot and at least as many bytes of stack in any real frame, so fork stacks as large as the stacks
// overflow last. Both are address space until touched.
context_pool::context_pool(runtime_core& runtime, std::size_t stack_size)
    : runtime_(runtime), stacks_(stack_size), fork_stacks_(stack_size) {}

context_pool::~context_pool() {
    for (auto& one : all_) {
        stacks_.give(one->stack);
        fork_stacks_.give(one->fork_memory);
    }
}

context& context_pool::take() {
    std::lock_guard guard(mutex_);
    if (free_) {
        context& found = *free_;
        free_ = found.next_free;
        --free_count_;
        return found;
    }
    if (all_.size() == all_.capacity()) all_.reserve(2 * all_.size() + 16); // may be refused: before anything is taken
    const sys::stack stack = stacks_.take();
    try {
        const sys::stack forks = fork_stacks_.take();
        try {
            all_.push_back(std::make_unique<context>(runtime_, static_cast<unsigned>(all_.size()), stack, forks));
        } catch (...) {
            fork_stacks_.give(forks);
            throw;
        }
    } catch (...) {
        stacks_.give(stack);
        throw;
    }
    return *all_.back();
}

void context_pool::give(context& idle) noexcept {
    std::lock_guard guard(mutex_);
    idle.next_free = free_;
    free_ = &idle;
    ++free_count_;
}

const context* context_pool::owner_of_guard(const void* address, bool& in_fork_stack) const noexcept {
    const auto* where = static_cast<const std::byte*>(address);
    for (const auto& one : all_) {
        const auto below = [where](const sys::stack& memory) {
            return where < memory.low && where >= memory.low - guard_reach;
        };
        if (below(one->stack) || below(one->fork_memory)) {
            in_fork_stack = below(one->fork_memory);
            return one.get();
        }
    }
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
