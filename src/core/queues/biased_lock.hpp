// SPDX-License-Identifier: Apache-2.0
// A lock that costs its owner, one thread, neither a locked instruction nor a fence. Others pay a
// membarrier, unless one of them has lately.
//
// Use it for what one thread does all the time and others hardly ever: a worker's own queue, which
// thieves look into when the worker does not answer. The sections are a few instructions; nothing
// in them blocks.
//
// Protocol. The owner says `busy`, then looks for a claim; another says `remote`, makes every
// thread pass a barrier (membarrier), then looks for `busy`. This is Dekker's pattern with the
// owner's fence moved to the other side: the owner's `busy` came before the barrier, and the other
// sees it; or the owner looks for the claim behind the barrier, and finds it.
//
// Wary. A barrier costs up to 10 us, and as much from the threads that it stops: as much as a
// thousand fences of the owner's. So who has made one leaves the owner wary: `remote` stays set,
// though nobody is inside, and the owner enters with sequentially consistent accesses, as the
// others do: Dekker's pattern as it is written, and no barrier. After some sections in which nobody
// came the owner goes back, with a CAS from wary to free; a claim is an exchange, so one of them
// comes first. It reads free, and makes its barrier; or it reads wary, the CAS fails, and the owner
// stays wary until the claim is over. Who reads wary knows that a barrier has passed since the
// owner entered freely, since who set it made that before it let anybody else claim. The dear
// sections cost together less than a barrier: at worst a claim costs twice what it must (rent or
// buy: Karlin, Manasse, Rudolph, Sleator, "Competitive snoopy caching", 1988). Where there is no
// membarrier the owner is wary for ever.
//
// What the owner wrote inside is carried by `busy` going to 0 (release) to whoever sees that
// (acquire); what another wrote, by `remote` going to wary. (Dice, Huang, Yang: "Asymmetric Dekker
// synchronization", 2001.) Tested by tests/unit/core/biased_lock_test.cpp, explored by tests/sim.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/sys/spin_lock.hpp"
#include "sys/membarrier.hpp"

#include <cstdint>

namespace sennit::sched {

class biased_lock {
public:
    // Whether the process has a membarrier is asked here, once.
    biased_lock() noexcept
        : always_contended_(!sys::barrier_available()), remote_(always_contended_ ? contended : 0) {
    }

    // The owner's thread only. Waits for the few instructions that another may be inside.
    void enter() noexcept {
        busy_.store_rlx(1); // pairs with claim's barrier
        base::compiler_barrier();
        // Orders nothing: only the owner makes it free where others were inside.
        if (remote_.load_rlx() != 0) [[unlikely]]
            enter_slowly();
    }
    // True where the process has no membarrier: what the owner publishes besides needs sequential
    // consistency, too.
    bool always_contended() const noexcept { return always_contended_; }

    void leave() noexcept { busy_.store_rel(0); } // pairs with claim's last load

    // Not let in: somebody else has it, or the owner did not leave for a while; or the system
    // refused the barrier, as it may do for good from one moment on (a filter for system calls):
    // who cannot do without asks the owner then.
    struct [[nodiscard]] remote_lock_result {
        bool acquired = false;
        bool refused = false; // by the system
        explicit operator bool() const noexcept { return acquired; }
    };
    // Any other thread. 0.5 to 15 us; 0.1 where the owner is wary.
    remote_lock_result try_lock_remote() noexcept;
    void unlock_remote() noexcept;
    // A claim would cost no barrier now: a hint.
    bool is_contended() const noexcept {
        return (remote_.load_rlx() & contended) != 0;
    } // orders nothing

    // Whether somebody is inside, or about to be: for reports.
    bool held() const noexcept {
        return busy_.load() != 0 || (remote_.load() & locked_remotely) != 0;
    }

private:
    void enter_slowly() noexcept;

    static constexpr std::uint32_t locked_remotely = 1,
                                   contended =
                                       2; // the latter for good where there is no membarrier

    const bool always_contended_;
    base::atomic<std::uint32_t> busy_{0};
    base::atomic<std::uint32_t> remote_;
    unsigned contended_sections_ = 0; // that are left; who is inside writes
    base::spin_lock others_;          // who of the others may claim
};

// The owner's section as a scope.
class owner_guard {
public:
    explicit owner_guard(biased_lock& lock) noexcept : lock_(lock) { lock_.enter(); }
    ~owner_guard() { lock_.leave(); }
    owner_guard(const owner_guard&) = delete;

private:
    biased_lock& lock_;
};

} // namespace sennit::sched
