// SPDX-License-Identifier: Apache-2.0
// All contexts of a runtime: makes them, keeps the idle ones, frees them at the end.
//
// An idle context is one whose stack holds nothing but the worker loop; whoever switches to it continues that loop.
// Each worker keeps a few of its own (worker::spares_); this is the shared reserve behind them. Thread-safe.
#pragma once

#include "sched/context.hpp"
#include "sys/mutex.hpp"
#include "sys/stack.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace sennit::sched {

class context_pool {
public:
    // `stack_size` in bytes, of each context's stack. Throws std::invalid_argument, std::bad_alloc.
    context_pool(runtime_core& runtime, std::size_t stack_size);
    ~context_pool();

    // An idle context, old or new. Throws std::bad_alloc (or what the system says) when memory is refused; nothing is
    // lost then.
    context& take();
    void give(context& idle) noexcept;

    // Names the context whose guard region `address` lies in, for the overflow report; null if none. Called from a
    // signal handler while the program is about to die: takes no lock.
    const context* owner_of_guard(const void* address, bool& in_fork_stack) const noexcept;

    sys::stack stack_of(unsigned index) const noexcept;

    struct counts {
        std::size_t made; // contexts, each with a stack
        std::size_t idle; // of these, in the shared reserve
    };
    counts count() const noexcept;

private:
    friend class snapshot;
    runtime_core& runtime_;
    sys::stack_source stacks_;
    sys::stack_source fork_stacks_;
    mutable sys::mutex mutex_;
    std::vector<std::unique_ptr<context>> all_;
    context* free_ = nullptr;
    std::size_t free_count_ = 0;
};

} // namespace sennit::sched
