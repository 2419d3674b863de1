// SPDX-License-Identifier: Apache-2.0
#include "sys/single_threaded.hpp"

#include "sennit/detail/sys/spin_lock.hpp"
#include "sys/clock.hpp"
#include "sys/membarrier.hpp"
#include "sys/mutant.hpp"

#include <pthread.h>

#include <algorithm>

namespace sennit::sys {

namespace {
// What may be spent on ends of solitudes, 1 to 20 us each: some in a row, and less than a hundredth
// of the time.
constexpr std::int64_t max_revocations = 32;
constexpr std::int64_t ns_per_revocation = 2'000'000;
constexpr std::int64_t drained_ns = 10'000'000;
} // namespace

// A lock of its own, since a spin lock would ask the company.
class single_thread_mode::gate_guard {
public:
    explicit gate_guard(single_thread_mode& whose) noexcept : gate_(whose.gate_) {
        for (unsigned round = 0; gate_.exchange_acq(1) != 0; ++round)
            base::spin_pause(round); // pairs with the release
    }
    ~gate_guard() { gate_.store_rel(0); } // pairs with the next one's exchange
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
    candidate_ = &me;
    grant_exclusive(now_ns);
}

void single_thread_mode::unregister_thread(base::thread_registration& me,
                                           std::int64_t now_ns) noexcept {
    const gate_guard guard(*this);
    registered_.store_rlx(registered_.load_rlx() - 1); // under the lock
    if (exclusive_ == &me) exclusive_ = nullptr;
    if (candidate_ == &me) candidate_ = nullptr;
    me.mode.store_rlx(base::thread_registration::unregistered); // own thread
    grant_exclusive(now_ns);
}

void single_thread_mode::grant_exclusive(std::int64_t now_ns) noexcept {
    if (exclusive_ || registered_.load_rlx() != 1) return; // under the lock
    // The seeker is a member, so it is that one. Any other one is not looked at: it may be of a
    // thread that has ended in some way in which it could not leave.
    if (!candidate_) return;
    const std::int64_t saved = (now_ns - counted_ns_) / ns_per_revocation;
    if (saved > 0) {
        counted_ns_ += saved * ns_per_revocation;
        revocations_ = std::max<std::int64_t>(revocations_ - saved, 0);
    }
    if (revocations_ >= max_revocations) return;
    exclusive_ = candidate_;
    exclusive_->mode.store_rel(
        base::thread_registration::exclusive); // pairs with enter: it sees what others did before
                                               // they left
}

// Where the system has come to refuse barriers (a filter for system calls), it takes the time in
// which any store leaves its processor's buffer many times over.
void single_thread_mode::revoke_exclusive() noexcept {
    base::thread_registration& other = *exclusive_;
    other.mode.store_rlx(
        base::thread_registration::shared); // pairs through the barrier with its second look
    if (!SENNIT_MUTANT("barrier at the end of exclusive mode") && !barrier_all_threads())
        for (const std::int64_t until = now_ns() + drained_ns; now_ns() < until;)
            base::spin_pause(0);
    if (!SENNIT_MUTANT("wait for the exclusive thread"))
        for (unsigned round = 0; other.busy.load_acq() != 0; ++round)
            base::spin_pause(round); // pairs with leave
    exclusive_ = nullptr;
    ++revocations_;
}

void single_thread_mode::try_become_exclusive(base::thread_registration& me,
                                              std::int64_t now_ns) noexcept {
    // Own thread. Who has left, as a relief does that stands down, is a stranger until its next
    // lock: the one member that there may be is another one, and the two would be counted as one.
    if (me.mode.load_rlx() != base::thread_registration::shared &&
        !SENNIT_MUTANT("an unregistered thread does not become exclusive"))
        return;
    const gate_guard guard(*this);
    me.wants_exclusive = true;
    candidate_ = &me;
    grant_exclusive(now_ns);
}

void single_thread_mode::reset_after_fork(base::thread_registration& me) noexcept {
    // All this orders nothing: there is one thread only.
    const bool member = me.mode.load_rlx() != base::thread_registration::unregistered;
    me.mode.store_rlx(member ? base::thread_registration::shared
                             : base::thread_registration::unregistered);
    me.busy.store_rlx(0);
    registered_.store_rlx(member ? 1 : 0);
    candidate_ = nullptr;
    exclusive_ = nullptr;
    gate_.store_rlx(0); // one thread only
}

} // namespace sennit::sys

#ifndef SENNIT_NO_LOCK_ELISION

extern "C" {
constinit thread_local sennit::base::thread_registration sennit_thread_registration{};
}

namespace sennit::base {

namespace {
constinit sys::single_thread_mode process_mode;

// A thread that ends leaves. Where the system has no more keys nobody is alone any more once such a
// thread has come. Of several that make the key at once one keeps his: nobody waits for another,
// who may be missing in a child of fork().
void unregister_at_thread_end() noexcept {
    static constinit base::atomic<std::uint64_t> made{0}; // one more than the key
    std::uint64_t one = made.load();
    if (one == 0) {
        pthread_key_t fresh;
        if (::pthread_key_create(&fresh, [](void*) { unregister_this_thread(); }) != 0) return;
        if (made.cas(one, std::uint64_t{fresh} + 1))
            one = std::uint64_t{fresh} + 1;
        else
            ::pthread_key_delete(fresh);
    }
    ::pthread_setspecific(static_cast<pthread_key_t>(one - 1),
                          &process_mode); // any value that is not null
}
} // namespace

void register_this_thread() noexcept {
    thread_registration& me = sennit_thread_registration;
    if (me.mode.load_rlx() != thread_registration::unregistered) return; // own thread
    unregister_at_thread_end();
    process_mode.register_thread(me, sys::coarse_now_ns());
}

void unregister_this_thread() noexcept {
    thread_registration& me = sennit_thread_registration;
    if (me.mode.load_rlx() != thread_registration::unregistered)
        process_mode.unregister_thread(me, sys::coarse_now_ns()); // own thread
}

void try_become_exclusive(std::int64_t now_ns) noexcept {
    thread_registration& me = sennit_thread_registration;
    if (me.mode.load_rlx() == thread_registration::exclusive) return; // own thread
    if (me.wants_exclusive && !process_mode.may_be_only_thread()) return;
    if (sys::barrier_available()) process_mode.try_become_exclusive(me, now_ns);
}

void reset_registration_after_fork() noexcept {
    process_mode.reset_after_fork(sennit_thread_registration);
}

} // namespace sennit::base

#endif
