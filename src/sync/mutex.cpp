// SPDX-License-Identifier: Apache-2.0
#include "sennit/mutex.hpp"

#include "../core/policy/tuning.hpp"
#include "sennit/detail/base/check.hpp"
#include "sennit/detail/core/now.hpp"
#include "sennit/detail/sys/single_threaded.hpp"
#include "sennit/on_lock.hpp"

#include <mutex>
#include <system_error>

namespace sennit {

namespace {

constexpr std::int64_t patience_ns = 1'000'000; // who has lost for so long is handed the lock

[[noreturn]] void fail(std::errc what, const char* where) {
    throw std::system_error(std::make_error_code(what), where);
}

} // namespace

mutex::~mutex() {
    std::lock_guard guard(lock_); // an unlock of somebody who had it before may be on its way out
    SENNIT_CHECK(waiters_.empty(), "[SNT-201] a mutex was destroyed while a fiber or thread waits "
                                   "for it; let every waiter return first");
}

const void* mutex::holder(const void* on) noexcept {
    // SAFETY: the bits of the address that its owner wrote.
    return reinterpret_cast<const void*>(static_cast<const mutex*>(on)->word_.load_rlx() &
                                         ~bits); // a hint
}

bool mutex::try_lock_slowly() noexcept {
    std::uintptr_t seen = word_.load_rlx(); // a hint: the CAS decides
    while ((seen & ~bits) == 0)
        if (base::elidable(word_).cas_acq(seen, seen | self())) return true; // pairs with unlock
    return false;
}

bool mutex::lock_slowly(std::uintptr_t me, std::int64_t deadline_ns) {
    if (owned())
        fail(std::errc::resource_deadlock_would_occur,
             "sennit: [SNT-202] mutex::lock: the caller owns this mutex "
             "already; unlock it first, or use recursive_mutex");
    if (try_lock_slowly()) return true; // somebody who waits has left a bit
    for (unsigned i = 0; i < sched::tuning::looks_at_a_lock && sched::others_run(); ++i) {
        for (unsigned pauses = 1u << i; pauses > 0; --pauses)
            base::spin_pause(0); // a look disturbs the owner
        if (try_lock_slowly()) return true;
    }
    attempt mine{me, false, false};
    std::uintptr_t my_bit = 0; // `woken`, when it is we who are on the way
    std::int64_t began = 0;
    for (;;) {
        lock_.lock();
        std::uintptr_t seen = word_.load_rlx(); // a hint: the CAS decides
        for (;;) {
            const std::uintptr_t others =
                (seen & bits & ~my_bit) | (waiters_.empty() ? 0 : waiting);
            if ((seen & ~bits) == 0) {
                if (!base::elidable(word_).cas_acq(seen, me | others))
                    continue; // pairs with unlock
                lock_.unlock();
                return true;
            }
            if (base::elidable(word_).cas_rlx(seen, (seen & ~bits) | others | waiting))
                break; // orders nothing: it is not ours yet
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

void mutex::unlock_slowly() {
    if (!owned())
        fail(std::errc::operation_not_permitted,
             "sennit: [SNT-203] mutex::unlock: the caller does not own this mutex; "
             "only the fiber or thread that locked it may unlock it");
    std::uintptr_t word = word_.load_rlx(); // a hint: the CAS decides
    while ((word & woken) != 0)
        if (base::elidable(word_).cas_rel(word, word & bits)) return; // pairs with lock
    sched::claimed next;
    {
        std::lock_guard guard(lock_);
        const std::uintptr_t seen =
            word_.load_rlx(); // the word is ours, and its bits change under the lock
        std::uintptr_t after = seen & woken;
        if (after == 0 && (next = sched::claim_first(waiters_))) {
            auto& its = *static_cast<attempt*>(next.entry->data);
            its.handed = its.starving;
            after = its.handed ? its.who : woken;
        }
        if (!waiters_.empty()) after |= waiting;
        word_.store_rel(after); // pairs with lock
    }
    if (next) sched::end_wait(next);
}

// ---- as a case of select. The list's lock is held from `try_now` until it waits or has found
// another case.

detail::lock_case::lock_case(mutex& wanted) : wanted_(&wanted), mine_{mutex::self(), true, false} {
    if (wanted.owned())
        fail(std::errc::resource_deadlock_would_occur,
             "sennit: [SNT-204] on_lock: the caller owns this mutex already; leave the case out of "
             "the select");
}

// Takes it, or leaves the bit `waiting` behind: with that, and the lock held, its owner cannot
// unlock. So it cannot become free before it is known whether we enter the list. If we do not, the
// next unlock clears the bit.
bool detail::lock_case::try_now(sched::wake_ups&) noexcept {
    base::atomic<std::uintptr_t>& word = wanted_->word_;
    std::uintptr_t seen = word.load_rlx(); // a hint: the CAS decides
    for (;;) {
        if ((seen & ~mutex::bits) == 0) {
            if (base::elidable(word).cas_acq(seen, seen | mine_.who))
                return true; // pairs with unlock
        } else if (base::elidable(word).cas_rlx(
                       seen,
                       seen | mutex::waiting)) { // orders nothing: it is not ours yet
            return false;
        }
    }
}

bool detail::lock_case::enlist(sched::wait_entry& entry) noexcept {
    entry.data = &mine_;
    sched::enqueue(wanted_->waiters_, entry);
    return true;
}

} // namespace sennit
