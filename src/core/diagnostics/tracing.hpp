// SPDX-License-Identifier: Apache-2.0
// What the engine tells whoever traces it. Off: nothing where a context yields, blocks or is woken
// by its own worker, whose quick ways are not taken while somebody traces (worker::fast_suspend_,
// fast_path_affinity_), nor in a fork or a join that nobody stole; one load and one branch that is
// never taken where a worker's loop resumes a context, at other wake-ups, at a steal, and where a
// fiber begins.
//
// Set once, before the first runtime starts, and taken back only in a child of fork(), before its
// first runtime starts; so `on` needs no order. Called on the thread on which it happens, by code
// that may hold a lock of any fiber or object; the receiver must take none of these, must not
// suspend, and must be fast.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/core/strand.hpp"

#include <cstdint>

namespace sennit::sched {

enum class trace_kind : std::uint8_t {
    runs,     // `who` runs from now on, on the calling worker; null: the worker looks for work
    suspends, // `who` leaves its worker; `what`: why
    wakes,    // `who` is made ready
    steals,   // the worker takes a fork; `what`: from where
    sleeps,   // the worker goes to sleep
    rises,    // it is awake again
};

class tracing {
public:
#ifdef SENNIT_NO_TRACE_HOOKS // to measure what the others cost: bench/README.md
    static constexpr bool compiled_in = false;
#else
    static constexpr bool compiled_in = true;
#endif
    using receiver = void (*)(trace_kind kind, strand* who, const char* what) noexcept;
    static void start(receiver to) noexcept { receiver_.store(to); }
    static void stop() noexcept { receiver_.store(nullptr); }

    static void emit(trace_kind kind, strand* who, const char* what = nullptr) noexcept {
        if (!compiled_in) return;
        if (const receiver to = receiver_.load_rlx()) [[unlikely]] // orders nothing, see above
            to(kind, who, what);
    }
    static bool on() noexcept { return compiled_in && receiver_.load_rlx() != nullptr; } // as above

private:
    static inline constinit base::atomic<receiver> receiver_{nullptr};
};

} // namespace sennit::sched
