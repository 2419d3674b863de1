// SPDX-License-Identifier: Apache-2.0
// A word that becomes done once, and at most one waiter for it.
//
// Use it where exactly one waiter waits for exactly one event: a stolen child's join, a job from a
// foreign thread, the last child of a scope. The waiter may be a context, which suspends while its
// worker continues, or any other thread, which sleeps.
//
// State of the word: 0: pending; `done_bit` or `failed_bit`: finished, with a result or with an
// exception; otherwise the address of the `waiter`.
//
// Protocol. `wait` watches the word for a moment, then prepares a waiter and installs its address.
// For a context, the next context installs the address after the switch, so the thread that resumes
// the waiter finds it completely saved. `finish` exchanges in the final state as its last access,
// because the word's memory may be gone right afterwards. If the exchange returns a waiter,
// `finish` wakes it. The exchanges on both sides (acquire and release) publish the writes before
// `finish` to the code after `wait`. Tested by tests/unit/core/one_shot_test.cpp.
#pragma once

#include "sennit/detail/base/atomic.hpp"

#include <cstdint>

namespace sennit::sched {

struct waiter;

class one_shot {
public:
    // Marks the event as done and wakes the waiter, if there is one. Thread-safe; called once. The
    // caller must not touch the object afterwards.
    void finish(bool failed = false) noexcept;

    // Like finish, but returns the waiter instead of waking it; null if there is no waiter yet.
    waiter* finish_and_take_waiter(bool failed) noexcept;

    // Blocks the calling context (its worker continues) or thread until the event is done. One
    // caller only. Reports print `what`; null: the wait is not recorded.
    void wait(const char* what = "wait") noexcept;

    bool finished() const noexcept {
        // Pairs with the exchange in finish.
        return (word_.load_acq() & (done_bit | failed_bit)) != 0;
    }
    // The next function is valid only after finished() or wait().
    bool failed() const noexcept {
        // Orders nothing: finished() or wait() before it does.
        return word_.load_rlx() == failed_bit;
    }

private:
    friend struct one_shot_installer;
    // Addresses of waiters are divisible by four, so both bits are free.
    static constexpr std::uintptr_t done_bit = 1;
    static constexpr std::uintptr_t failed_bit = 2;

    base::atomic<std::uintptr_t> word_{0};
};

} // namespace sennit::sched
