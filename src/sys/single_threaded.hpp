// SPDX-License-Identifier: Apache-2.0
// The registry of the threads that work with the library: the rarely executed half of
// sennit/detail/sys/single_threaded.hpp.
#pragma once

#include "sennit/detail/sys/single_threaded.hpp"

#include <array>
#include <cstdint>

namespace sennit::sys {

// Thread-safe. Each registration belongs to one thread.
class single_thread_mode {
public:
    constexpr single_thread_mode() noexcept = default;

    // Registers an unregistered thread. If the thread has asked for exclusive mode before, it
    // becomes exclusive, provided it is the only registered thread and the budget for ending
    // exclusive mode is not used up.
    void register_thread(base::thread_registration& me, std::int64_t now_ns) noexcept;
    // Unregisters a registered thread. If one thread is left and it has asked for exclusive mode,
    // it becomes exclusive, within the budget.
    void unregister_thread(base::thread_registration& me, std::int64_t now_ns) noexcept;
    // For a thread in shared mode: asks for exclusive mode. For another thread: does nothing.
    void try_become_exclusive(base::thread_registration& me, std::int64_t now_ns) noexcept;
    bool may_be_only_thread() const noexcept { return registered_.load_rlx() == 1; } // a hint
    // For the child of a fork, which has one thread.
    void reset_after_fork(base::thread_registration& me) noexcept;

private:
    class gate_guard;
    void add_candidate(base::thread_registration& me) noexcept;
    void remove_candidate(base::thread_registration& me) noexcept;
    void revoke_exclusive() noexcept;
    void grant_exclusive(std::int64_t now_ns) noexcept;

    // Guards the members below. Not a base::spin_lock, which would ask for the thread's mode.
    base::atomic<std::uint32_t> gate_{0};
    base::atomic<std::uint32_t> registered_{0};
    // Registered threads that asked for exclusive mode; null: a free place. One place would not do:
    // a worker that registers for a moment would take it from a worker that stays.
    std::array<base::thread_registration*, 16> candidates_{};
    // The registered thread in exclusive mode; null: none.
    base::thread_registration* exclusive_ = nullptr;
    // Ends of exclusive mode that still count against the budget.
    std::int64_t revocations_ = 0;
    // The time up to which the budget has been replenished.
    std::int64_t counted_ns_ = 0;
};

#ifndef SENNIT_NO_LOCK_ELISION

// The registry of the process.
extern constinit single_thread_mode process_mode;

// Unregisters the calling thread when it ends (src/sys/thread_registration.cpp; the explorer does
// it itself).
void unregister_at_thread_end() noexcept;

#endif

} // namespace sennit::sys
