// SPDX-License-Identifier: Apache-2.0
// All contexts of a runtime: makes them, keeps the idle ones, frees them at the end.
//
// A context lies right above its own stack, in the page that its first frames touch in any case, so
// a blocked context takes one page. Stack memory stays mapped as long as the pool lives; contexts
// are therefore type-stable.
//
// The stack of an idle context holds nothing but the worker loop; a worker that switches to it
// continues that loop. Each worker caches a few idle contexts (context_cache.hpp); this pool
// is the shared reserve behind them. Thread-safe.
#pragma once

#include "core/switch/context.hpp"
#include "sys/mutex.hpp"
#include "sys/stack.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace sennit::sched {

class context_pool {
public:
    // `stack_size` is the size in bytes of each usual context's stack. Throws std::invalid_argument
    // and std::bad_alloc.
    context_pool(runtime_core& runtime, std::size_t stack_size);
    ~context_pool();

    // Returns an idle context, old or new. Throws std::bad_alloc (or the system's error) if memory
    // is refused; nothing is lost then.
    context& take();
    // Returns an idle context with a stack of at least this many bytes, rounded up to a power of
    // two. Throws the exceptions of `take()`, and std::invalid_argument beyond sys::max_stack_size.
    context& take(std::size_t stack_size);
    void give(context& idle) noexcept;

    // Returns the context below whose stack `address` lies, for the overflow report; null if none.
    // Called from a signal handler while the program is about to die: takes no lock.
    const context* owner_of_guard(const void* address) const noexcept;

    sys::stack stack_of(unsigned index) const noexcept;

    struct counts {
        std::size_t made; // Contexts, each with a stack.
        std::size_t idle; // Contexts of these in the shared reserve.
    };
    counts count() const noexcept;

private:
    friend class snapshot;
    // Stacks of one size, and the idle contexts that have them.
    struct size_class {
        // A fork takes a slot and at least as many bytes of any real frame, and scopes take at most
        // half of the slots: so frames overflow first. All memory is only address space until it is
        // touched.
        explicit size_class(std::size_t size) : stacks(size, sizeof(context) + 2 * size) {}
        sys::stack_source stacks;
        context* free = nullptr;
    };
    context& take_from(size_class& sizes, bool large);
    size_class& class_of(const context& one) noexcept;

    runtime_core& runtime_;
    mutable sys::mutex mutex_;
    size_class usual_;
    std::vector<std::unique_ptr<size_class>> larger_; // Ordered by size.
    std::vector<context*> all_;                       // In the order of construction.
    std::size_t free_count_ = 0;
};

} // namespace sennit::sched
