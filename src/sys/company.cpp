// SPDX-License-Identifier: Apache-2.0
#include "sys/company.hpp"

#include "sennit/base/spin_lock.hpp"
#include "sys/clock.hpp"
#include "sys/membarrier.hpp"
#include "sys/mutant.hpp"

#include <pthread.h>

#include <algorithm>

namespace sennit::sys {

namespace {
// What may be spent on ends of solitudes, 1 to 20 us each: some in a row, and less than a hundredth of the time.
constexpr std::int64_t most_ends = 32;
constexpr std::int64_t ns_for_an_end = 2'000'000;
constexpr std::int64_t drained_ns = 10'000'000;
} // namespace

// A lock of its own, since a spin lock would ask the company.
class company::gate_guard {
public:
    explicit gate_guard(company& whose) noexcept : gate_(whose.gate_) {
        for (unsigned round = 0; gate_.exchange_acq(1) != 0; ++round) base::spin_pause(round); // pairs with the release
    }
    ~gate_guard() { gate_.store_rel(0); } // pairs with the next one's exchange
    gate_guard(const gate_guard&) = delete;

private:
    base::atomic<std::uint32_t>& gate_;
};

void company::join(base::membership& me, std::int64_t now_ns) noexcept {
    const gate_guard guard(*this);
    members_.store_rlx(members_.load_rlx() + 1); // under the lock
    if (alone_) end_solitude();
    me.standing.store_rlx(base::membership::in_company); // own thread
    if (!me.seeks_solitude) return;
    seeker_ = &me;
    begin_solitude(now_ns);
}

void company::leave(base::membership& me, std::int64_t now_ns) noexcept {
    const gate_guard guard(*this);
    members_.store_rlx(members_.load_rlx() - 1); // under the lock
    if (alone_ == &me) alone_ = nullptr;
    if (seeker_ == &me) seeker_ = nullptr;
    me.standing.store_rlx(base::membership::stranger); // own thread
    begin_solitude(now_ns);
}

void company::begin_solitude(std::int64_t now_ns) noexcept {
    if (alone_ || members_.load_rlx() != 1) return; // under the lock
    // The seeker is a member, so it is that one. Any other one is not looked at: it may be of a thread that has ended
    // in some way in which it could not leave.
    if (!seeker_) return;
    const std::int64_t saved = (now_ns - counted_ns_) / ns_for_an_end;
    if (saved > 0) {
        counted_ns_ += saved * ns_for_an_end;
        ends_ = std::max<std::int64_t>(ends_ - saved, 0);
    }
    if (ends_ >= most_ends) return;
    alone_ = seeker_;
    alone_->standing.store_rel(base::membership::alone); // pairs with enter: it sees what others did before they left
}

// Where the system has come to refuse barriers (a filter for system calls), it takes the time in which any store leaves
// its processor's buffer many times over.
void company::end_solitude() noexcept {
    base::membership& other = *alone_;
    other.standing.store_rlx(base::membership::in_company); // pairs through the barrier with its second look
    if (!SENNIT_MUTANT("barrier at the end of a solitude") && !barrier_all_threads())
        for (const std::int64_t until = now_ns() + drained_ns; now_ns() < until;) base::spin_pause(0);
    if (!SENNIT_MUTANT("wait for who was alone"))
        for (unsigned round = 0; other.busy.load_acq() != 0; ++round) base::spin_pause(round); // pairs with leave
    alone_ = nullptr;
    ++ends_;
}

void company::seek_solitude(base::membership& me, std::int64_t now_ns) noexcept {
    // Own thread. Who has left, as a relief does that stands down, is a stranger until its next lock: the one member
    // that there may be is another one, and the two would be counted as one.
    if (me.standing.load_rlx() != base::membership::in_company && !SENNIT_MUTANT("who has left seeks no solitude"))
        return;
    const gate_guard guard(*this);
    me.seeks_solitude = true;
    seeker_ = &me;
    begin_solitude(now_ns);
}

void company::survived_fork(base::membership& me) noexcept {
    // All this orders nothing: there is one thread only.
    const bool member = me.standing.load_rlx() != base::membership::stranger;
    me.standing.store_rlx(member ? base::membership::in_company : base::membership::stranger);
    me.busy.store_rlx(0);
    members_.store_rlx(member ? 1 : 0);
    seeker_ = nullptr;
    alone_ = nullptr;
    gate_.store_rlx(0); // one thread only
}

} // namespace sennit::sys

#ifndef SENNIT_ALWAYS_IN_COMPANY

extern "C" {
constinit thread_local sennit::base::membership sennit_membership{};
}

namespace sennit::base {

namespace {
constinit sys::company everybody;

// A thread that ends leaves. Where the system has no more keys nobody is alone any more once such a thread has come.
// Of several that make the key at once one keeps his: nobody waits for another, who may be missing in a child of
// fork().
void leave_at_end() noexcept {
    static constinit base::atomic<std::uint64_t> made{0}; // one more than the key
    std::uint64_t one = made.load();
    if (one == 0) {
        pthread_key_t fresh;
        if (::pthread_key_create(&fresh, [](void*) { leave_company(); }) != 0) return;
        if (made.cas(one, std::uint64_t{fresh} + 1))
            one = std::uint64_t{fresh} + 1;
        else
            ::pthread_key_delete(fresh);
    }
    ::pthread_setspecific(static_cast<pthread_key_t>(one - 1), &everybody); // any value that is not null
}
} // namespace

void join_company() noexcept {
    membership& me = sennit_membership;
    if (me.standing.load_rlx() != membership::stranger) return; // own thread
    leave_at_end();
    everybody.join(me, sys::coarse_now_ns());
}

void leave_company() noexcept {
    membership& me = sennit_membership;
    if (me.standing.load_rlx() != membership::stranger) everybody.leave(me, sys::coarse_now_ns()); // own thread
}

void seek_solitude(std::int64_t now_ns) noexcept {
    membership& me = sennit_membership;
    if (me.standing.load_rlx() == membership::alone) return; // own thread
    if (me.seeks_solitude && !everybody.may_be_one()) return;
    if (sys::barrier_available()) everybody.seek_solitude(me, now_ns);
}

void company_survived_fork() noexcept {
    everybody.survived_fork(sennit_membership);
}

} // namespace sennit::base

#endif
