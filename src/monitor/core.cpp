// SPDX-License-Identifier: Apache-2.0
#include "sennit/monitor/core.hpp"
#include "core/wait/wait_here.hpp"
#include "monitor/accept_request.hpp"
#include "monitor/passing.hpp"
#include "sennit/detail/base/check.hpp"
#include "sennit/detail/base/return_thunk.hpp"
#include "sennit/detail/core/verbs.hpp"
#include "sennit/detail/sys/single_threaded.hpp"

#include <mutex>
#include <utility>

namespace sennit {

monitor::~monitor() {
    std::lock_guard guard(lock_); // the last owner may not have left the lock yet
    // Orders nothing: the destroying task already knows that the other tasks have left.
    SENNIT_CHECK(word_.load_rlx() == 0 && waiting_.empty(),
                 "[SNT-406] a monitor was destroyed while a fiber or thread is inside or waits to "
                 "enter; let all of them leave before");
}

const void* monitor::holder(const void* on) noexcept {
    // SAFETY: the address that the owner wrote, only compared; a hint.
    return reinterpret_cast<const void*>(static_cast<const monitor*>(on)->word_.load_rlx() &
                                         ~has_waiters); // a hint
}

void monitor::transfer_and_notify() noexcept {
    if (detail::entrant* next = transfer_to_next()) next->grant(1);
}

// Blocks until this monitor, or all of them, are the caller's. Inline, as wait_behind is.
[[gnu::always_inline]] inline monitor::entered
monitor::enter_slow(const detail::monitor_set& all, identity me,
                    detail::member_key member) noexcept {
    lock_.lock();
    identity seen = word_.load_rlx(); // a hint: the CAS decides
    for (;;) {
        if (seen == 0) {
            // Pairs with leave_now.
            if (!base::elidable(word_).cas_acq(seen, me)) continue;
            taken_.store_rlx(1); // a hint
            lock_.unlock();
            return entered::this_one;
        }
        // Orders nothing: this task does not own the monitor yet.
        if ((seen & has_waiters) != 0 || base::elidable(word_).cas_rlx(seen, seen | has_waiters))
            break;
    }
    sched::wait_point point(true);
    detail::entrant mine(me, point, 1);
    mine.member = member;
    mine.wanted = &all;
    mine.accepted = false;
    detail::accept_request* accepted = member && accepting_ ? accepting_->claim_by(mine) : nullptr;
    if (accepted && member != &detail::key_of_destructor) {
        lock_.unlock();
        accepted->admit(mine);
        return entered::all;
    }
    detail::queue_node place;
    place.whose = &mine;
    waiting_.push_back(place);
    const sched::wait_options options{
        .cancellable = false, .what = "monitor", .on = this, .holder = &monitor::holder};
    if (!accepted) {
        sched::wait_for_source(point, lock_, sched::this_strand(), options);
        return mine.accepted ? entered::all : entered::this_one;
    }
    mine.member = nullptr; // the acceptor is notified once
    struct leaving {
        monitor* here;
        // the acceptor, which learns that its object is being destroyed
        detail::accept_request* told;
    } act{this, accepted};
    sched::wait(
        point,
        [](void* argument) noexcept {
            // The frame may be gone once the lock is free.
            const leaving what = *static_cast<leaving*>(argument);
            what.here->lock_.unlock();
            what.told->resume_acceptor();
        },
        &act, options);
    return entered::this_one;
}

namespace detail {

SENNIT_RETURN_VIA_THUNK bool monitor_ops::enter_one(monitor& one, std::uintptr_t me,
                                                    member_key member) noexcept {
    if (one.owned_by(me)) return false;
    // An acceptor of the call compares the set.
    (void)one.enter_slow(monitor_set(one), me, member);
    return true;
}

SENNIT_RETURN_VIA_THUNK unsigned monitor_ops::enter_from(monitor* const* all, std::size_t count,
                                                         std::size_t at, std::uintptr_t me,
                                                         member_key member) noexcept {
    const monitor_set wanted(all, member && at == 0 ? count : 0); // for an acceptor of the call
    unsigned fresh = 0;
    for (std::size_t i = at; i < count; ++i) {
        if (all[i]->owned_by(me)) continue;
        // Only the first monitor may be waited for as a call: an acceptor owns all its monitors, so
        // it cannot wait for a call that already has some of them.
        const bool first = i == 0;
        if (all[i]->enter_slow(wanted, me, first ? member : nullptr) == monitor::entered::all) {
            for (std::size_t k = 0; k < count; ++k) // but counts equal monitors once
                if (k == 0 || all[k] != all[k - 1]) fresh |= 1u << k;
            return fresh;
        }
        fresh |= 1u << i;
        // The monitors after it are usually free.
        for (; i + 1 < count && all[i + 1]->enter_now(me); ++i) fresh |= 2u << i;
    }
    return fresh;
}

void monitor_ops::enter(const monitor_set& all, std::uintptr_t me) noexcept {
    for (std::size_t i = 0; i < all.size(); ++i)
        if (!all[i].enter_now(me)) (void)all[i].enter_slow(all, me, nullptr);
}

void monitor_ops::reenter(const monitor_set& all, std::uintptr_t me) noexcept {
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].enter_now(me)) continue;
        monitor_set rest;
        for (std::size_t k = i; k < all.size(); ++k) rest.add(all[k]);
        (void)all[i].returning_.fetch_add(1);
        const monitor::entered what = all[i].enter_slow(rest, me, &key_of_return);
        (void)all[i].returning_.fetch_sub(1);
        if (what == monitor::entered::all) return;
    }
}

void monitor_ops::leave_from(monitor* const* all, std::size_t count, unsigned fresh,
                             std::uintptr_t me) noexcept {
    pending_wakeup passed_on(all[count - 1]->transfer_to_next());
    for (std::size_t i = count - 1; i-- > 0;)
        if ((fresh >> i & 1) != 0) passed_on.add(all[i]->leave_and_transfer(me));
    passed_on.notify();
}

void monitor_ops::leave(const monitor_set& all, std::uintptr_t me) noexcept {
    pending_wakeup passed_on;
    for (std::size_t i = all.size(); i-- > 0;) passed_on.add(all[i].leave_and_transfer(me));
    passed_on.notify();
}

void monitor_ops::reserve(monitor& fresh, const void* key) noexcept {
    // SAFETY: an address that no strand has, only compared.
    const auto name = reinterpret_cast<std::uintptr_t>(key);
    // Pairs with leave_now.
    if (monitor::identity seen = 0; fresh.word_.cas_acq(seen, name)) return;
    // The constructor of the object has published it, and a task is inside.
    enter(monitor_set(fresh), self_identity());
    fresh.set_next_owner(name);
}

void monitor_ops::release(monitor& reserved) noexcept {
    reserved.transfer_and_notify(); // the constructor may have published it, so a task may wait
}

void monitor_ops::adopt(monitor& reserved) noexcept {
    reserved.set_next_owner(self_identity());
}

SENNIT_RETURN_VIA_THUNK void entrant::wait_rest(const char* what, const void* on) noexcept {
    // Orders nothing: 0 is read only after the wake-up by the last `grant`, or by
    // `resume_acceptor`, which publishes everything.
    if (missing.load_rlx() == 0) return;
    sched::wait_point here(true);
    point = &here;
    // This is not an ordinary wait: if the last monitor has already been granted, no task will wake
    // this one.
    sched::strand& me = sched::this_strand();
    const sched::wait_options options{.cancellable = false, .what = what, .on = on};
    const sched::wait_record outer = std::exchange(me.waits_for, &options);
    sched::park(
        [](void* argument, sched::waiter&) noexcept {
            auto& owed = static_cast<entrant*>(argument)->missing;
            // Pairs with grant.
            return base::elidable(owed).fetch_sub_acq_rel(1) != 1;
        },
        this, here);
    me.waits_for = outer;
}

} // namespace detail

} // namespace sennit
