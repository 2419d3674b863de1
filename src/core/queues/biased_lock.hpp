// SPDX-License-Identifier: Apache-2.0
// A biased lock: one thread, the owner, enters without a locked instruction and without a fence.
// Any other thread pays a membarrier, unless another thread has paid for one recently.
//
// Use it for state that one thread touches all the time and other threads rarely, such as a
// worker's run queue, which thieves enter when the worker does not answer. The sections are a few
// instructions; nothing in them blocks.
//
// Protocol. The owner stores `busy`, then reads `remote`. A revoker stores `remote`, makes every
// thread pass a barrier (membarrier), then reads `busy`. This is Dekker's pattern with the owner's
// fence moved to the revoker. Either the owner's `busy` precedes the barrier, and the revoker sees
// it; or the owner reads `remote` after the barrier, and sees the claim.
//
// Contended mode. A membarrier costs the caller up to 10 us, and as much from the threads that it
// interrupts: about a thousand times a fence of the owner. So after a revocation the lock stays
// contended (`contended`): `remote` stays set, although no thread is inside, and the owner enters
// with sequentially consistent accesses, as revokers do. This is Dekker's pattern in its usual
// form, without a barrier. After 256 owner sections without a revocation the owner returns to
// biased mode with a CAS from contended to free. A revocation is an exchange, so either the CAS or
// the exchange is first. If the exchange reads free, the revoker issues its barrier. If it reads
// contended, the CAS fails, and the lock stays contended until the revocation is over. A revoker
// that reads contended knows that a barrier has passed since the owner's last biased entry, because
// the thread that set contended issued that barrier before it let another revoker in. The owner's
// expensive sections together cost less than a barrier. In the worst case a revocation costs twice
// the optimum (rent or buy: Karlin, Manasse, Rudolph, Sleator, "Competitive snoopy caching", 1988).
// Where there is no membarrier the lock is contended forever.
//
// Data. `busy` going to 0 (release) carries the owner's writes to a thread that sees the 0
// (acquire). `remote` going to contended carries a revoker's writes. (Dice, Huang, Yang:
// "Asymmetric Dekker synchronization", 2001.)
//
// Tested by tests/unit/core/biased_lock_test.cpp, explored by tests/sim.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/sys/spin_lock.hpp"
#include "sys/membarrier.hpp"

#include <cstdint>

namespace sennit::sched {

class biased_lock {
public:
    // Determines once whether the process has a membarrier.
    biased_lock() noexcept
        : always_contended_(!sys::barrier_available()), remote_(always_contended_ ? contended : 0) {
    }

    // Owner only. Waits for the few instructions that a revoker may be inside.
    void enter() noexcept {
        busy_.store_rlx(1); // pairs with claim's barrier
        base::compiler_barrier();
        // Orders nothing: only the owner makes it free where revokers were inside.
        if (remote_.load_rlx() != 0) [[unlikely]]
            enter_slowly();
    }
    // True where the process has no membarrier: other words that the owner publishes then need
    // sequential consistency, too.
    bool always_contended() const noexcept { return always_contended_; }

    void leave() noexcept { busy_.store_rel(0); } // pairs with claim's last load

    // The result of `remote`. The lock is not granted if another revoker has it, if the owner did
    // not leave for a while, or if the system refused the barrier. The system may begin to refuse
    // for good at some moment (a filter for system calls). A caller that needs the section must
    // then ask the owner to run it.
    struct [[nodiscard]] remote_lock_result {
        bool acquired = false;
        bool refused = false; // The system refused the barrier.
        explicit operator bool() const noexcept { return acquired; }
    };
    // Any thread but the owner. Costs 0.5 to 15 us; 0.1 us while the lock is contended.
    remote_lock_result try_lock_remote() noexcept;
    void unlock_remote() noexcept;
    // True if a claim would cost no barrier now: a hint.
    bool is_contended() const noexcept {
        return (remote_.load_rlx() & contended) != 0;
    } // orders nothing

    // True if a thread is inside, or about to be. For reports.
    bool held() const noexcept {
        return busy_.load() != 0 || (remote_.load() & locked_remotely) != 0;
    }

private:
    void enter_slowly() noexcept;

    // `contended` stays set for good where there is no membarrier.
    static constexpr std::uint32_t locked_remotely = 1, contended = 2;

    const bool always_contended_;
    base::atomic<std::uint32_t> busy_{0};
    base::atomic<std::uint32_t> remote_;
    // Owner sections left before biased mode returns; written inside the lock.
    unsigned contended_sections_ = 0;
    base::spin_lock others_; // Serialises the revokers.
};

// A section of the owner as a scope.
class owner_guard {
public:
    explicit owner_guard(biased_lock& lock) noexcept : lock_(lock) { lock_.enter(); }
    ~owner_guard() { lock_.leave(); }
    owner_guard(const owner_guard&) = delete;

private:
    biased_lock& lock_;
};

} // namespace sennit::sched
