// SPDX-License-Identifier: Apache-2.0
#include "sys/single_threaded.hpp"

#include "sennit/detail/sys/spin_lock.hpp"
#include "sys/clock.hpp"
#include "sys/membarrier.hpp"
#include "sys/mutant.hpp"

#include <algorithm>

namespace sennit::sys {

namespace {
// The budget for ending exclusive mode, at 1 to 20 us each: up to 32 times in a row, and otherwise
// less than a hundredth of the time.
constexpr std::int64_t max_revocations = 32;
constexpr std::int64_t ns_per_revocation = 2'000'000;
constexpr std::int64_t drained_ns = 10'000'000;
} // namespace

// The gate has its own lock, because a spin lock would ask for the thread's mode.
class single_thread_mode::gate_guard {
public:
    explicit gate_guard(single_thread_mode& whose) noexcept : gate_(whose.gate_) {
        // pairs with the release in the destructor
        for (unsigned round = 0; gate_.exchange_acq(1) != 0; ++round) base::spin_pause(round);
    }
    ~gate_guard() { gate_.store_rel(0); } // pairs with the next holder's exchange
    gate_guard(const gate_guard&) = delete;

private:
    base::atomic<std::uint32_t>& gate_;
};

void single_thread_mode::register_thread(base::thread_registration& me,
                                         std::int64_t now_ns) noexcept {
    const gate_guard guard(*this);
    registered_.store_rlx(registered_.load_rlx() + 1); // under the lock
    if (exclusive_) revoke_exclusive();
    me.mode.store_rlx(base::thread_registration::shared); // own thread
    if (!me.wants_exclusive) return;
    add_candidate(me);
    grant_exclusive(now_ns);
}

void single_thread_mode::unregister_thread(base::thread_registration& me,
                                           std::int64_t now_ns) noexcept {
    const gate_guard guard(*this);
    registered_.store_rlx(registered_.load_rlx() - 1); // under the lock
    if (exclusive_ == &me) exclusive_ = nullptr;
    remove_candidate(me);
    me.mode.store_rlx(base::thread_registration::unregistered); // own thread
    grant_exclusive(now_ns);
}

// Where all places are taken, the thread is no candidate until it asks again.
void single_thread_mode::add_candidate(base::thread_registration& me) noexcept {
    if (me.candidate != base::thread_registration::no_candidate) return;
    const auto free = std::find(candidates_.begin(), candidates_.end(), nullptr);
    if (free == candidates_.end()) return;
    *free = &me;
    me.candidate = static_cast<std::uint8_t>(free - candidates_.begin());
}

void single_thread_mode::remove_candidate(base::thread_registration& me) noexcept {
    if (me.candidate == base::thread_registration::no_candidate) return;
    candidates_[me.candidate] = nullptr;
    me.candidate = base::thread_registration::no_candidate;
}

void single_thread_mode::grant_exclusive(std::int64_t now_ns) noexcept {
    if (exclusive_ || registered_.load_rlx() != 1) return; // under the lock
    // Candidates are registered, so there is at most one now, and it is the only registered thread.
    // No other registration is read, because it may belong to a thread that ended without
    // unregistering. Candidates are workers, which unregister before they end.
    const auto only = std::find_if(candidates_.begin(), candidates_.end(),
                                   [](const auto* one) { return one != nullptr; });
    if (only == candidates_.end()) return;
    const std::int64_t saved = (now_ns - counted_ns_) / ns_per_revocation;
    if (saved > 0) {
        counted_ns_ += saved * ns_per_revocation;
        revocations_ = std::max<std::int64_t>(revocations_ - saved, 0);
    }
    if (revocations_ >= max_revocations) return;
    exclusive_ = *only;
    // Pairs with begin_exclusive, which sees the writes that other threads made before they
    // unregistered.
    exclusive_->mode.store_rel(base::thread_registration::exclusive);
}

// Ends exclusive mode. If the system has come to refuse membarrier (a system call filter), the
// caller waits 10 ms instead, in which any store leaves its processor's buffer many times over.
void single_thread_mode::revoke_exclusive() noexcept {
    base::thread_registration& other = *exclusive_;
    // pairs through the barrier with the second look in begin_exclusive
    other.mode.store_rlx(base::thread_registration::shared);
    if (!SENNIT_MUTANT("barrier at the end of exclusive mode") && !barrier_all_threads())
        for (const std::int64_t until = now_ns() + drained_ns; now_ns() < until;)
            base::spin_pause(0);
    if (!SENNIT_MUTANT("wait for the exclusive thread"))
        // pairs with end_exclusive
        for (unsigned round = 0; other.busy.load_acq() != 0; ++round) base::spin_pause(round);
    exclusive_ = nullptr;
    ++revocations_;
}

void single_thread_mode::try_become_exclusive(base::thread_registration& me,
                                              std::int64_t now_ns) noexcept {
    // Own thread. A worker that has unregistered, as a spare worker does when it is deactivated,
    // stays unregistered until its next lock. The one registered thread may then be another thread,
    // and the check below would count the two as one.
    if (me.mode.load_rlx() != base::thread_registration::shared &&
        !SENNIT_MUTANT("an unregistered thread does not become exclusive"))
        return;
    const gate_guard guard(*this);
    me.wants_exclusive = true;
    add_candidate(me);
    grant_exclusive(now_ns);
}

void single_thread_mode::reset_after_fork(base::thread_registration& me) noexcept {
    // orders nothing: the child has one thread only
    const bool member = me.mode.load_rlx() != base::thread_registration::unregistered;
    me.mode.store_rlx(member ? base::thread_registration::shared
                             : base::thread_registration::unregistered);
    me.busy.store_rlx(0);
    // orders nothing: one thread
    registered_.store_rlx(member ? 1 : 0);
    candidates_.fill(nullptr);
    me.candidate = base::thread_registration::no_candidate;
    exclusive_ = nullptr;
    gate_.store_rlx(0); // orders nothing: one thread
}

} // namespace sennit::sys

#ifndef SENNIT_NO_LOCK_ELISION

constinit sennit::sys::single_thread_mode sennit::sys::process_mode;

namespace sennit::base {

#ifndef SENNIT_SWITCHED_LOCK_ELISION
namespace {
thread_registration* own_registration() noexcept {
    return &sennit_thread_registration;
}
} // namespace
#endif

void register_this_thread() noexcept {
    thread_registration* const me = own_registration();
    // own thread
    if (!me || me->mode.load_rlx() != thread_registration::unregistered) return;
    sys::unregister_at_thread_end();
    sys::process_mode.register_thread(*me, sys::coarse_now_ns());
}

void unregister_this_thread() noexcept {
    thread_registration* const me = own_registration();
    // own thread
    if (me && me->mode.load_rlx() != thread_registration::unregistered)
        sys::process_mode.unregister_thread(*me, sys::coarse_now_ns());
}

void end_registration() noexcept {
    thread_registration* const me = own_registration();
    if (!me) return;
    me->wants_exclusive = false; // A later lock of this thread makes it no candidate.
    unregister_this_thread();
}

void try_become_exclusive(std::int64_t now_ns) noexcept {
    thread_registration* const me = own_registration();
    if (!me || me->mode.load_rlx() == thread_registration::exclusive) return; // own thread
    if (me->wants_exclusive && !sys::process_mode.may_be_only_thread()) return;
    if (sys::barrier_available()) sys::process_mode.try_become_exclusive(*me, now_ns);
}

void reset_registration_after_fork() noexcept {
    if (thread_registration* const me = own_registration()) sys::process_mode.reset_after_fork(*me);
}

} // namespace sennit::base

#endif
