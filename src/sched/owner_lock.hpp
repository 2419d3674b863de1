// SPDX-License-Identifier: Apache-2.0
// A lock that costs its owner, one thread, neither a locked instruction nor a fence. Others pay a membarrier, unless
// one of them has lately.
//
// Use it for what one thread does all the time and others hardly ever: a worker's own queue, which thieves look into
// when the worker does not answer. The sections are a few instructions; nothing in them blocks.
//
// Protocol. The owner says `busy`, then looks for a claim; another says `claim`, makes every thread pass a barrier
// (membarrier), then looks for `busy`. This is Dekker's pattern with the owner's fence moved to the other side: the
// owner's `busy` came before the barrier, and the other sees it; or the owner looks for the claim behind the barrier,
// and finds it.
//
// Wary. A barrier costs up to 10 us, and as much from the threads that it stops: as much as a thousand fences of the
// owner's. So who has made one leaves the owner wary: `claim` stays set, though nobody is inside, and the owner enters
// with sequentially consistent accesses, as the others do: Dekker's pattern as it is written, and no barrier. After
// some sections in which nobody came the owner goes back, with a CAS from wary to free; a claim is an exchange, so one
// of them comes first. It reads free, and makes its barrier; or it reads wary, the CAS fails, and the owner stays wary
// until the claim is over. Who reads wary knows that a barrier has passed since the owner entered freely, since who set
// it made that before it let anybody else claim. The dear sections cost together less than a barrier: at worst a claim
// costs twice what it must (rent or buy: Karlin, Manasse, Rudolph, Sleator, "Competitive snoopy caching", 1988).
// Where there is no membarrier the owner is wary for ever.
//
// What the owner wrote inside is carried by `busy` going to 0 (release) to whoever sees that (acquire); what another
// wrote, by `claim` going to wary. (Dice, Huang, Yang: "Asymmetric Dekker synchronization", 2001.)
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
    owner_lock() noexcept : fenced_(!sys::barrier_available()), claim_(fenced_ ? wary : 0) {}

    // The owner's thread only. Waits for the few instructions that another may be inside.
    void enter() noexcept {
        busy_.store_rlx(1); // pairs with claim's barrier
        base::compiler_barrier();
        // Orders nothing: only the owner makes it free where others were inside.
        if (claim_.load_rlx() != 0) [[unlikely]]
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
    // Any other thread. 0.5 to 15 us; 0.1 where the owner is wary.
    answer claim() noexcept;
    void release() noexcept;
    // A claim would cost no barrier now: a hint.
    bool is_wary() const noexcept { return (claim_.load_rlx() & wary) != 0; } // orders nothing

    // Whether somebody is inside, or about to be: for reports.
    bool held() const noexcept { return busy_.load() != 0 || (claim_.load() & claimed) != 0; }

private:
    void enter_slowly() noexcept;

    static constexpr std::uint32_t claimed = 1, wary = 2; // the latter for good where there is no membarrier

    const bool fenced_;
    base::atomic<std::uint32_t> busy_{0};
    base::atomic<std::uint32_t> claim_;
    unsigned wary_sections_ = 0; // that are left; who is inside writes
    base::spin_lock others_;     // who of the others may claim
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
