// SPDX-License-Identifier: Apache-2.0
#include "sys/single_threaded.hpp"

#include "sennit/detail/sys/spin_lock.hpp"
#include "sys/clock.hpp"
#include "sys/membarrier.hpp"
#include "sys/mutant.hpp"

#include <algorithm>

namespace sennit::sys {

namespace {
constexpr std::int64_t drained_ns = 10'000'000;
// An owner that loses so many biases in such a time takes a new id.
#ifdef SENNIT_SIMULATOR
constexpr std::uint32_t losses_at_once = 2;
constexpr unsigned rounds_to_see = 1;
#else
constexpr std::uint32_t losses_at_once = 8;
constexpr unsigned rounds_to_see = 64; // about 2 us
#endif
constexpr std::int64_t losses_ns = 4'000'000;

// The key of a thread that is in shared mode.
std::uint32_t shared_key(const base::thread_registration& whose) noexcept {
    const std::uint32_t id = whose.id.load_rlx(); // under the lock
    return id == 0 ? std::uint32_t{base::thread_registration::shared} : id << 16;
}
// The caller is in no section of plain updates, and waits for the gate next.
void see_suspensions(base::thread_registration& me) noexcept {
    // Orders nothing: the gate orders the next section.
    const std::uint32_t number = me.suspended.load_rlx();
    // Own thread; the store pairs with lock_out.
    if (number != me.seen_suspended.load_rlx()) me.seen_suspended.store_rel(number);
}
bool is_registered(const base::thread_registration& whose) noexcept {
    return whose.key.load_rlx() != base::thread_registration::unregistered; // under the lock
}
} // namespace

// The gate has its own lock, because a spin lock would ask for the thread's mode.
class single_thread_mode::gate_guard {
public:
    gate_guard(single_thread_mode& whose, base::thread_registration& me) noexcept
        : gate_(whose.gate_) {
        see_suspensions(me);
        // pairs with the release in the destructor
        for (unsigned round = 0; gate_.exchange_acq(1) != 0; ++round) {
            base::spin_pause(round);
            see_suspensions(me);
        }
    }
    ~gate_guard() { gate_.store_rel(0); } // pairs with the next holder's exchange
    gate_guard(const gate_guard&) = delete;

private:
    base::atomic<std::uint32_t>& gate_;
};

void single_thread_mode::register_thread(base::thread_registration& me,
                                         std::int64_t now_ns) noexcept {
    const gate_guard guard(*this, me);
    registered_.store_rlx(registered_.load_rlx() + 1); // under the lock
    if (exclusive_) revoke_exclusive();
    if (me.wants_exclusive) give_id(me);
    me.key.store_rlx(shared_key(me)); // own thread
    if (!me.wants_exclusive) return;
    add_candidate(me);
    grant_exclusive(now_ns);
}

void single_thread_mode::unregister_thread(base::thread_registration& me,
                                           std::int64_t now_ns) noexcept {
    const gate_guard guard(*this, me);
    registered_.store_rlx(registered_.load_rlx() - 1); // under the lock
    if (exclusive_ == &me) exclusive_ = nullptr;
    remove_candidate(me);
    me.key.store_rlx(base::thread_registration::unregistered); // own thread
    grant_exclusive(now_ns);
}

void single_thread_mode::leave_exclusive(base::thread_registration& me) noexcept {
    const gate_guard guard(*this, me);
    if (exclusive_ != &me) return;
    exclusive_ = nullptr;
    me.key.store_rlx(shared_key(me)); // own thread
}

void single_thread_mode::release_id(base::thread_registration& me) noexcept {
    const gate_guard guard(*this, me);
    owners_[me.id.load_rlx()] = nullptr; // under the lock
    me.id.store_rlx(0);                  // under the lock
}

// If all ids are taken, the thread has none.
void single_thread_mode::give_id(base::thread_registration& whose) noexcept {
    if (whose.id.load_rlx() != 0) return; // under the lock
    for (std::size_t i = 1; i < ids; ++i) {
        last_id_ = last_id_ % (ids - 1) + 1;
        if (owners_[last_id_]) continue;
        owners_[last_id_] = &whose;
        whose.id.store_rlx(static_cast<std::uint16_t>(last_id_)); // under the lock
        return;
    }
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
    if (!revocations_.has_room(now_ns)) return;
    exclusive_ = *only;
    // Pairs with begin_exclusive, which sees the writes that other threads made before they
    // unregistered.
    exclusive_->key.store_rel(base::thread_registration::exclusive);
}

bool single_thread_mode::budget::has_room(std::int64_t now_ns) noexcept {
    if (const std::int64_t saved = (now_ns - counted_ns) / interval_ns; saved > 0) {
        counted_ns += saved * interval_ns;
        used.store_rlx(std::max<std::int64_t>(used.load_rlx() - saved, 0)); // under the lock
    }
    return used.load_rlx() < most; // under the lock
}

// If the system has come to refuse membarrier (a system call filter), the caller waits 10 ms
// instead, in which any store leaves its processor's buffer many times over.
void single_thread_mode::lock_out(base::thread_registration& owner) noexcept {
    // Pairs through the number or the barrier with the owner's look at its key.
    if (!SENNIT_MUTANT("key of the owner")) owner.key.store_rlx(base::thread_registration::shared);
    const std::uint32_t number = owner.suspended.load_rlx() + 1; // under the lock
    owner.suspended.store_rlx(number); // orders nothing: see see_suspensions
    for (unsigned round = 0; round < rounds_to_see; ++round) {
        if (owner.seen_suspended.load_acq() == number) return; // pairs with see_suspensions
        base::spin_pause(0);
    }
    if (!SENNIT_MUTANT("barrier at the end of exclusive mode") && !barrier_all_threads())
        for (const std::int64_t until = now_ns() + drained_ns; now_ns() < until;)
            base::spin_pause(0);
    if (!SENNIT_MUTANT("wait for the exclusive thread"))
        // pairs with end_exclusive
        for (unsigned round = 0; owner.busy.load_acq() != 0; ++round) base::spin_pause(round);
}

void single_thread_mode::revoke_exclusive() noexcept {
    lock_out(*exclusive_);
    // Orders nothing: no word that names the owner has changed.
    exclusive_->key.store_rlx(shared_key(*exclusive_));
    exclusive_ = nullptr;
    revocations_.use();
}

bool single_thread_mode::count_loss(base::thread_registration& owner,
                                    std::int64_t now_ns) noexcept {
    if (now_ns >= owner.counted_until_ns) {
        owner.counted_until_ns = now_ns + losses_ns;
        owner.lost = 0;
    }
    return ++owner.lost >= losses_at_once;
}

template <class T>
void single_thread_mode::end_bias(base::atomic<T>& word, base::thread_registration& me,
                                  end_of_bias how, std::int64_t now_ns) noexcept {
    const gate_guard guard(*this, me);
    const auto is_left_alone = [how](T seen) {
        return !base::is_biased(seen) || (how == end_of_bias::if_free && (seen & 1) != 0);
    };
    T seen = word.load_rlx(); // a hint: the second look decides
    if (is_left_alone(seen)) return;
    const auto id = static_cast<std::size_t>(seen >> (8 * sizeof(T) - 16));
    base::thread_registration* const owner = owners_[id];
    // Own thread. The thread that kept the caller from plain updates has left the gate.
    if (owner == &me && me.key.load_rlx() != base::thread_registration::exclusive &&
        how != end_of_bias::also_own)
        return;
    const bool active = owner && owner != &me && is_registered(*owner);
    if (active) lock_out(*owner);
    seen = word.load_acq(); // pairs with the owner's updates
    const bool ends = !is_left_alone(seen);
    // Pairs with the locked instructions of all threads.
    if (ends) word.store_rel(base::without_bias(seen));
    if (!active) return;
    if (ends && count_loss(*owner, now_ns)) {
        owner->lost = 0;
        owners_[id] = nullptr;
        owner->id.store_rlx(0); // under the lock
        give_id(*owner);
    }
    // Pairs with the owner's look at its key.
    owner->key.store_rel(shared_key(*owner));
}

template void single_thread_mode::end_bias(base::atomic<std::uint32_t>&, base::thread_registration&,
                                           end_of_bias, std::int64_t) noexcept;
template void single_thread_mode::end_bias(base::atomic<std::uint64_t>&, base::thread_registration&,
                                           end_of_bias, std::int64_t) noexcept;

std::uint32_t single_thread_mode::request_bias(base::thread_registration& me, unsigned losses,
                                               std::int64_t now_ns) noexcept {
    // One request in 4^losses.
    if ((me.requests++ & ((1u << 2 * losses) - 1)) != 0) return 0;
    if (me.id.load_rlx() == 0 || now_ns < next_bias_ns_.load_rlx()) return 0; // a hint
    const gate_guard guard(*this, me);
    if (!biases_.has_room(now_ns)) {
        next_bias_ns_.store_rlx(now_ns + biases_.interval_ns); // a hint
        return 0;
    }
    // Under the lock.
    if (me.key.load_rlx() == base::thread_registration::exclusive) return 0;
    biases_.use();
    return std::uint32_t{me.id.load_rlx()} << 16; // under the lock
}

void single_thread_mode::try_become_exclusive(base::thread_registration& me,
                                              std::int64_t now_ns) noexcept {
    // Own thread. A worker that has unregistered, as a spare worker does when it is deactivated,
    // stays unregistered until its next lock. The one registered thread may then be another thread,
    // and the check below would count the two as one.
    if (!is_registered(me) && !SENNIT_MUTANT("an unregistered thread does not become exclusive"))
        return;
    const gate_guard guard(*this, me);
    // Under the lock. Only this thread could make the caller exclusive without it.
    if (me.key.load_rlx() == base::thread_registration::exclusive) return;
    me.wants_exclusive = true;
    give_id(me);
    me.key.store_rlx(shared_key(me)); // own thread
    add_candidate(me);
    grant_exclusive(now_ns);
}

void single_thread_mode::reset_after_fork(base::thread_registration& me) noexcept {
    // orders nothing: the child has one thread only
    const bool member = is_registered(me);
    owners_.fill(nullptr);
    owners_[me.id.load_rlx()] = me.id.load_rlx() == 0 ? nullptr : &me; // one thread
    me.key.store_rlx(member ? shared_key(me)
                            : std::uint32_t{base::thread_registration::unregistered});
    me.busy.store_rlx(0); // orders nothing: one thread
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

namespace {
void stop_asking(thread_registration& me) noexcept {
    me.wants_exclusive = false; // A later lock of this thread makes it no candidate.
    unregister_this_thread();
}
} // namespace

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
    if (!me || me->key.load_rlx() != thread_registration::unregistered) return;
    sys::unregister_at_thread_end();
    sys::process_mode.register_thread(*me, sys::coarse_now_ns());
}

void unregister_this_thread() noexcept {
    thread_registration* const me = own_registration();
    // own thread
    if (me && me->key.load_rlx() != thread_registration::unregistered)
        sys::process_mode.unregister_thread(*me, sys::coarse_now_ns());
}

void leave_exclusive_mode() noexcept {
    thread_registration* const me = own_registration();
    // Own thread. Another thread may end the mode meanwhile; the gate decides.
    if (me && me->key.load_rlx() == thread_registration::exclusive)
        sys::process_mode.leave_exclusive(*me);
}

void end_registration() noexcept {
    thread_registration* const me = own_registration();
    if (!me) return;
    stop_asking(*me);
    sys::process_mode.release_id(*me);
}

void try_become_exclusive(std::int64_t now_ns) noexcept {
    thread_registration* const me = own_registration();
    if (!me || me->key.load_rlx() == thread_registration::exclusive) return; // own thread
    if (me->wants_exclusive && !sys::process_mode.may_be_only_thread()) return;
    if (sys::barrier_available()) sys::process_mode.try_become_exclusive(*me, now_ns);
}

namespace {
template <class T>
void end_bias_as(atomic<T>& word, sys::single_thread_mode::end_of_bias how) noexcept {
    if (thread_registration* const me = own_registration())
        sys::process_mode.end_bias(word, *me, how, sys::coarse_now_ns());
}
} // namespace

void end_bias(atomic<std::uint32_t>& word) noexcept {
    end_bias_as(word, sys::single_thread_mode::end_of_bias::if_free);
}

void end_bias(atomic<std::uint64_t>& word) noexcept {
    end_bias_as(word, sys::single_thread_mode::end_of_bias::of_any);
}

void make_neutral_slowly(atomic<std::uint64_t>& word) noexcept {
    if (!this_thread_registered()) register_this_thread();
    end_bias_as(word, sys::single_thread_mode::end_of_bias::also_own);
}

std::uint32_t request_bias(unsigned losses) noexcept {
    thread_registration* const me = own_registration();
    return me ? sys::process_mode.request_bias(*me, losses, sys::coarse_now_ns()) : 0;
}

void reset_registration_after_fork() noexcept {
    if (thread_registration* const me = own_registration()) sys::process_mode.reset_after_fork(*me);
}

} // namespace sennit::base

namespace sennit::sys {
void unregister_as_worker() noexcept {
    if (base::thread_registration* const me = base::own_registration()) base::stop_asking(*me);
}
} // namespace sennit::sys

#endif
