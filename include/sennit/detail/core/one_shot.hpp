// SPDX-License-Identifier: Apache-2.0
// A word that becomes done once, and one waiter that wants to know.
//
// Use it where exactly one party waits for exactly one event: a stolen child's join, a job from a
// foreign thread, the last child of a scope. The waiter may be a context (it suspends, its worker
// goes on) or any other thread (it sleeps).
//
// State of the word: 0 pending; `done_bit` or `failed_bit`: finished, with a result or with an
// exception; else the address of the `waiter`.
//
// Protocol. `wait` looks at the word for a moment, then prepares a waiter and installs its address;
// for a context this happens after the switch, from the next context, so that whoever resumes it
// finds it completely saved. `finish` exchanges in the final state as its last access: the word's
// memory may be gone right after. If it finds a waiter it wakes it. Exchange on both sides (acquire
// and release) carries what was written before `finish` to whoever returns from `wait`. Tested by
// tests/unit/core/one_shot_test.cpp.
#pragma once

#include "sennit/detail/base/atomic.hpp"

#include <cstdint>

namespace sennit::sched {

struct waiter;

class one_shot {
public:
    // Thread-safe, once. Wakes the waiter if there is one. The object must not be touched by the
    // caller afterwards.
    void finish(bool failed = false) noexcept;

    // Like finish, but hands the waiter back instead of waking it; null if nobody waits yet.
    waiter* finish_and_take_waiter(bool failed) noexcept;

    // Blocks the calling context (its worker goes on) or thread until finished. One caller only.
    // `what`: for reports; null: nothing is noted.
    void wait(const char* what = "wait") noexcept;

    bool finished() const noexcept {
        return (word_.load_acq() & (done_bit | failed_bit)) !=
               0; // pairs with the exchange in finish
    }
    // Only after finished().
    bool failed() const noexcept {
        return word_.load_rlx() == failed_bit;
    } // ordered by finished() or wait() before it

private:
    friend struct one_shot_installer;
    static constexpr std::uintptr_t done_bit = 1;   // addresses of waiters are even
    static constexpr std::uintptr_t failed_bit = 2; // and divisible by four

    base::atomic<std::uintptr_t> word_{0};
};

} // namespace sennit::sched
