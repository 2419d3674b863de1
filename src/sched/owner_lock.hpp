// SPDX-License-Identifier: Apache-2.0
// A lock that costs its owner, one thread, neither a locked instruction nor a fence. Others pay a membarrier.
//
// Use it for what one thread does all the time and others hardly ever: a worker's own queue, which thieves look into
// when the worker does not answer. The sections are a few instructions; nothing in them blocks.
//
// Protocol. The owner says `busy`, then looks for a claim; another says `claim`, makes every thread pass a barrier
// (membarrier), then looks for `busy`. This is Dekker's pattern with the owner's fence moved to the other side: the
// owner's `busy` came before the barrier, and the other sees it; or the owner looks for the claim behind the barrier,
// and finds it. Where there is no membarrier, both sides use sequentially consistent accesses instead.
// What the owner wrote inside is carried by `busy` going to 0 (release) to whoever sees that (acquire); what another
// wrote, by `claim` going to 0. (Dice, Huang, Yang: "Asymmetric Dekker synchronization", 2001.)
// Tested by tests/unit/sched/owner_lock_test.cpp, explored by tests/sim.
#pragma once

#include "sennit/base/atomic.hpp"
#include "sennit/base/spin_lock.hpp"
#include "sys/membarrier.hpp"

#include <cstdint>

namespace sennit::sched {

class owner_lock {
public:
    // Whether the process has a membarrier is asked here, once.
    owner_lock() noexcept : fenced_(!sys::barrier_available()), claim_(free_claim()) {}

    // The owner's thread only. Waits for the few instructions that another may be inside.
    void enter() noexcept {
        busy_.store_rlx(1); // pairs with claim's barrier
        base::compiler_barrier();
        if (claim_.load_acq() != 0) [[unlikely]] // pairs with release
            enter_slowly();
    }
    // True where the process has no membarrier: what the owner publishes besides needs sequential consistency, too.
    bool fenced() const noexcept { return fenced_; }

    void leave() noexcept { busy_.store_rel(0); } // pairs with claim's last load

    // Not let in: somebody else has it, or the owner did not leave for a while; or the system refused the barrier, as
    // it may do for good from one moment on (a filter for system calls): who cannot do without asks the owner then.
    struct [[nodiscard]] answer {
        bool let_in = false;
        bool refused = false; // by the system
        explicit operator bool() const noexcept { return let_in; }
    };
    // Any other thread. 0.5 to 15 us.
    answer claim() noexcept;
    void release() noexcept;

    // Whether somebody is inside, or about to be: for reports.
    bool held() const noexcept { return busy_.load() != 0 || (claim_.load() & claimed) != 0; }

private:
    void enter_slowly() noexcept;

    static constexpr std::uint32_t claimed = 1, always_slow = 2; // the latter, where there is no membarrier
    std::uint32_t free_claim() const noexcept { return fenced_ ? always_slow : 0; }

    const bool fenced_;
    base::atomic<std::uint32_t> busy_{0};
    base::atomic<std::uint32_t> claim_;
    base::spin_lock others_; // who of the others may claim
};

// The owner's section as a scope.
class owner_section {
public:
    explicit owner_section(owner_lock& lock) noexcept : lock_(lock) { lock_.enter(); }
    ~owner_section() { lock_.leave(); }
    owner_section(const owner_section&) = delete;

private:
    owner_lock& lock_;
};

} // namespace sennit::sched
