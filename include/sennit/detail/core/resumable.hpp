// SPDX-License-Identifier: Apache-2.0
// The base of everything that a wait suspends and a wake-up makes ready again: a runnable that
// knows its runtime and its strand.
//
// There are two kinds. A context is suspended code with a stack. A task strand is a suspended chain
// of C++20 coroutines, without a stack. Locks, channels, joins and timers keep waiters, and a
// waiter names a resumable, so none of them depends on the kind.
//
// The fields change only while the resumable runs, or before the wait is published. The thread that
// wakes it reads them.
#pragma once

#include "sennit/detail/core/runnable.hpp"

namespace sennit::sched {

class runtime_core;
struct strand;

struct resumable : runnable {
    resumable(void (*function)(runnable*) noexcept, runtime_core& where) noexcept
        : runnable(function), runtime(where) {}

    runtime_core& runtime;
    // The strand that runs when this continues.
    strand* saved_strand = nullptr;
};

} // namespace sennit::sched
