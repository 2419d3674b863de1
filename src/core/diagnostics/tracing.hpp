// SPDX-License-Identifier: Apache-2.0
// Events that the scheduler emits to a trace receiver.
//
// Cost while tracing is off. There is no cost where a context yields, blocks or is woken by its own
// worker, because the fast paths are taken only while tracing is off (`placement_rules`:
// `fast_suspend`, `fast_path_affinity`). There is no cost in a fork or a join that no thief stole.
// One load and one branch that is never taken remain where a worker's loop resumes a context, at
// other wake-ups, at a steal, and where a fiber begins.
//
// The receiver is set once, before the first runtime starts, and is cleared only in a child of
// fork(), before its first runtime starts; so `on` needs no order. The scheduler calls the receiver
// on the thread on which the event happens, in code that may hold a lock of any fiber or object.
// The receiver must take none of these locks, must not suspend, and must be fast.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/core/strand.hpp"

#include <cstdint>

namespace sennit::sched {

enum class trace_kind : std::uint8_t {
    // `who` runs from now on, on the calling worker; null: the worker looks for work. Of a task,
    // `what` is the name to show, and `made_at` the code that started it.
    runs,
    suspends, // `who` leaves its worker; `what`: the reason.
    wakes,    // `who` is made ready.
    steals,   // The worker takes a fork; `what`: from which place.
    sleeps,   // The worker parks.
    rises,    // The worker is awake again.
    steps,    // The running strand begins a part of its work; `what`: a name, which is copied.
};

class tracing {
public:
#ifdef SENNIT_NO_TRACE_HOOKS // For measuring the cost of the hooks: bench/README.md.
    static constexpr bool compiled_in = false;
#else
    static constexpr bool compiled_in = true;
#endif
    using receiver = void (*)(trace_kind kind, strand* who, const char* what,
                              const void* made_at) noexcept;
    static void start(receiver to) noexcept { receiver_.store(to); }
    static void stop() noexcept { receiver_.store(nullptr); }

    static void emit(trace_kind kind, strand* who, const char* what = nullptr,
                     const void* made_at = nullptr) noexcept {
        if (!compiled_in) return;
        // Orders nothing: set before the first runtime starts.
        if (const receiver to = receiver_.load_rlx()) [[unlikely]]
            to(kind, who, what, made_at);
    }
    // Orders nothing: set before the first runtime starts.
    static bool on() noexcept { return compiled_in && receiver_.load_rlx() != nullptr; }

private:
    static inline constinit base::atomic<receiver> receiver_{nullptr};
};

} // namespace sennit::sched
