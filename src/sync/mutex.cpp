// SPDX-License-Identifier: Apache-2.0
#include "sennit/mutex.hpp"

#include "../core/policy/tuning.hpp"
#include "sennit/detail/base/check.hpp"
#include "sennit/detail/core/now.hpp"
#include "sennit/detail/core/verbs.hpp"
#include "sennit/detail/sys/biased_word.hpp"
#include "sennit/on_lock.hpp"

#include <mutex>
#include <system_error>

namespace sennit {

namespace {

// A waiter that has lost for so long is handed the lock.
constexpr std::int64_t patience_ns = 1'000'000;

[[noreturn]] void fail(std::errc what, const char* where) {
    throw std::system_error(std::make_error_code(what), where);
}

} // namespace

mutex::~mutex() {
    // An unlock by an earlier owner may not have left `lock_` yet.
    std::lock_guard guard(lock_);
    SENNIT_CHECK(waiters_.empty(), "[SNT-201] a mutex was destroyed while a fiber or thread waits "
                                   "for it; let every waiter return first");
}

const void* mutex::holder(const void* on) noexcept {
    // SAFETY: the bits of the address that the owner wrote.
    return reinterpret_cast<const void*>(
        owner_in(static_cast<const mutex*>(on)->word_.load_rlx())); // a hint
}

void mutex::take_bias(std::uintptr_t me) noexcept {
    const auto bias = static_cast<std::uintptr_t>(uses_.ask()) << 32;
    std::uintptr_t seen = me;
    // Orders nothing: the caller owns the mutex. It fails if a task has begun to wait.
    (void)word_.cas_rlx(seen, bias | me);
}

bool mutex::lock_neutral(std::uintptr_t me) noexcept {
    std::uintptr_t seen = 0;
    // The load is a hint: a failing CAS is as expensive as a successful one, and a word with the
    // flag of a waiter needs the slow path. The CAS pairs with unlock.
    if (word_.load_rlx() != 0 || !base::this_thread_registered() || !word_.cas_acq(seen, me))
        return false;
    if (uses_.count()) [[unlikely]]
        take_bias(me);
    return true;
}

bool mutex::lock_shared(std::uintptr_t me, std::int64_t deadline_ns) {
    sched::yield_if_requested();
    return lock_neutral(me) || lock_slowly(me, deadline_ns);
}

void mutex::unlock_shared() {
    std::uintptr_t seen = self();
    // The load is a hint. The CAS pairs with lock.
    if (word_.load_rlx() != seen || !word_.cas_rel(seen, 0)) [[unlikely]]
        unlock_slowly();
}

bool mutex::try_lock_slowly() noexcept {
    std::uintptr_t seen = base::without_bias(word_.load_rlx()); // a hint: the CAS decides
    // Pairs with unlock.
    while ((seen & ~bits) == 0)
        if (base::biasable(word_).cas_acq(seen, seen | self())) return true;
    return false;
}

bool mutex::lock_slowly(std::uintptr_t me, std::int64_t deadline_ns) {
    const std::uintptr_t seen = word_.load_rlx(); // a hint
    const bool foreign = base::is_biased(seen) && !base::is_own(seen);
    const bool locked = lock_or_wait(me, deadline_ns);
    if (locked && foreign) uses_.note_loss();
    return locked;
}

bool mutex::lock_or_wait(std::uintptr_t me, std::int64_t deadline_ns) {
    if (owned())
        fail(std::errc::resource_deadlock_would_occur,
             "sennit: [SNT-202] mutex::lock: the caller owns this mutex already; unlock it first, "
             "or use recursive_mutex");
    if (try_lock_slowly()) return true; // a free word with a waiter's flag made the fast path fail
    for (unsigned i = 0; i < sched::tuning::looks_at_a_lock && sched::others_run(); ++i) {
        // Each look at the word disturbs the owner.
        for (unsigned pauses = 1u << i; pauses > 0; --pauses) base::spin_pause(0);
        if (try_lock_slowly()) return true;
    }
    attempt mine{me, false, false};
    // The flag `woken`, if this task is the woken waiter.
    std::uintptr_t my_bit = 0;
    std::int64_t began = 0;
    for (;;) {
        lock_.lock();
        std::uintptr_t seen = base::without_bias(word_.load_rlx()); // a hint: the CAS decides
        for (;;) {
            const std::uintptr_t others =
                (seen & bits & ~my_bit) | (waiters_.empty() ? 0 : waiting);
            if ((seen & ~bits) == 0) {
                // Pairs with unlock.
                if (!base::biasable(word_).cas_acq(seen, me | others)) continue;
                lock_.unlock();
                return true;
            }
            // Orders nothing: this task does not own the lock yet.
            if (base::biasable(word_).cas_rlx(seen, (seen & ~bits) | others | waiting)) break;
        }
        if (began == 0) began = sched::now_ns();
        const sched::wake_reason why = sched::block(waiters_, lock_,
                                                    {.deadline_ns = deadline_ns,
                                                     .cancellable = false,
                                                     .what = "mutex",
                                                     .on = this,
                                                     .holder = &mutex::holder},
                                                    &mine, my_bit != 0);
        if (why != sched::wake_reason::source) return false;
        if (mine.handed) return true;
        my_bit = woken;
        mine.starving = sched::now_ns() - began > patience_ns;
    }
}

// Takes the lock, or leaves the flag `waiting` in the word. The caller holds the lock of the list.
// While it does, and the flag is set, the owner cannot unlock. The mutex thus cannot become free
// before the caller has decided whether to enter the list. If the caller does not enter it, the
// next unlock clears the flag.
bool mutex::lock_or_list() noexcept {
    std::uintptr_t seen = base::without_bias(word_.load_rlx()); // a hint: the CAS decides
    for (;;) {
        if ((seen & ~bits) == 0) {
            // Pairs with unlock.
            if (base::biasable(word_).cas_acq(seen, seen | self())) return true;
            // Orders nothing: this task does not own the lock yet.
        } else if (base::biasable(word_).cas_rlx(seen, seen | waiting)) {
            return false;
        }
    }
}

void mutex::unlock_slowly() {
    if (!owned())
        fail(std::errc::operation_not_permitted,
             "sennit: [SNT-203] mutex::unlock: the caller does not own this mutex; only the fiber "
             "or thread that locked it may unlock it");
    std::uintptr_t word = base::without_bias(word_.load_rlx()); // a hint: the CAS decides
    // Pairs with lock.
    while ((word & woken) != 0)
        if (base::biasable(word_).cas_rel(word, word & bits)) return;
    sched::claimed next;
    {
        std::lock_guard guard(lock_);
        // The owner reads its own word; the flags change under the lock.
        const std::uintptr_t seen = base::without_bias(word_.load_rlx());
        std::uintptr_t after = seen & woken;
        if (after == 0 && (next = sched::claim_first(waiters_))) {
            auto& its = *static_cast<attempt*>(next.entry->data);
            its.handed = its.starving;
            after = its.handed ? its.who : woken;
        }
        if (!waiters_.empty()) after |= waiting;
        if (!base::update_plainly(word_, seen, after)) {
            // The caller may run on another worker than the one that it locked the mutex on.
            base::make_neutral(word_);
            word_.store_rel(after); // pairs with lock
        }
    }
    if (next) sched::end_wait(next);
}

// ---- The await of a task.

bool detail::lock_awaiter::lock_or_hold() {
    if (wanted_.owned())
        fail(std::errc::resource_deadlock_would_occur,
             "sennit: [SNT-241] mutex::async_lock: the task owns this mutex already; unlock it "
             "first");
    wanted_.lock_.lock();
    waits_ = !wanted_.lock_or_list();
    if (!waits_) wanted_.lock_.unlock();
    return !waits_;
}

std::coroutine_handle<> detail::lock_awaiter::suspend_until(std::coroutine_handle<> caller,
                                                            std::int64_t deadline_ns) {
    mine_.who = mutex::self();
    return sched::task_wait::block(caller, wanted_.waiters_, wanted_.lock_,
                                   {.deadline_ns = deadline_ns,
                                    .cancellable = false,
                                    .what = "mutex",
                                    .on = &wanted_,
                                    .holder = &mutex::holder},
                                   &mine_);
}

// A waiter that the deadline has taken off may leave the flag `waiting` behind. The next unlock
// clears it.
bool detail::lock_awaiter::end_wait() noexcept {
    return sched::task_wait::unblock(wanted_.waiters_, wanted_.lock_) == sched::wake_reason::source;
}

// ---- The case of a select. The caller holds the list's lock from `try_now` until it waits or has
// found another case.

detail::lock_case::lock_case(mutex& wanted) : wanted_(&wanted), mine_{mutex::self(), true, false} {
    if (wanted.owned())
        fail(std::errc::resource_deadlock_would_occur,
             "sennit: [SNT-204] on_lock: the caller owns this mutex already; leave the case out of "
             "the select");
}

bool detail::lock_case::try_now(sched::wake_ups&) noexcept {
    return wanted_->lock_or_list();
}

bool detail::lock_case::enlist(sched::wait_entry& entry) noexcept {
    entry.data = &mine_;
    sched::enqueue(wanted_->waiters_, entry);
    return true;
}

} // namespace sennit
