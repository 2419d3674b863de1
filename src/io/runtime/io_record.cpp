// SPDX-License-Identifier: Apache-2.0
// The steps of io_record.hpp, which has the protocol and its proof.
#include "io/runtime/io_record.hpp"

#include "io/runtime/io_poller.hpp"
#include "io/runtime/io_record_table.hpp"
#include "sennit/detail/core/now.hpp"
#include "sennit/detail/core/task_strand.hpp"
#include "sennit/detail/core/verbs.hpp"
#include "sennit/detail/sys/atfork.hpp"
#include "sys/event_set.hpp"
#include "sys/mutant.hpp"
#include "sys/socket.hpp"
#include "sys/thread.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

namespace sennit::sched {

namespace {

using bits = sys::event_set;

constexpr std::uint8_t bit_of(io_direction one) noexcept {
    return static_cast<std::uint8_t>(1u << static_cast<unsigned>(one));
}
// The write direction is watched only from the first write on that would block: otherwise each
// connection would begin with an event for nothing.
constexpr std::uint32_t events_of(std::uint8_t armed) noexcept {
    return ((armed & bit_of(io_direction::read)) != 0 ? bits::in | bits::peer_closed : 0u) |
           ((armed & bit_of(io_direction::write)) != 0 ? bits::out : 0u);
}

io_wake& result_at(const claimed& one) noexcept {
    return static_cast<event_wait*>(one.entry->data)->result;
}

// The result of a wait that ended for the reason `why`; the claimant has written `told`.
io_wake result_of(wake_reason why, io_wake told) noexcept {
    switch (why) {
    case wake_reason::timed_out:
        return io_wake::timed_out;
    case wake_reason::cancelled:
    case wake_reason::stopped:
        return io_wake::scope_canceled;
    default:
        return told;
    }
}

} // namespace

io_record& io_record::make(int descriptor, bool owned, bool socket) {
    io_record& one = io_record_table::take();
    one.descriptor_.store(descriptor);
    one.owned_ = owned;
    one.socket_ = socket;
    one.fork_generation_.store(sys::fork_generation());
    one.hung_up_.store(0);
    one.drained_.store(0);
    one.limit_ns_.store(never);
    one.hook_ = nullptr;
    for (one_side& each : one.sides_) each.immediate.store(0);
    one.state_.store(0);
    return one;
}

io_record* io_record::find(std::uint64_t tag) noexcept {
    return io_record_table::at(static_cast<std::uint32_t>(tag >> 32));
}

std::uint32_t io_record::chunks() noexcept {
    return io_record_table::chunks();
}

// U1.
bool io_record::begin_use() noexcept {
    adopt_if_forked();
    if ((state_.fetch_add(1) & closed_bit) == 0) return true;
    end_use();
    return false;
}

void io_record::end_use() noexcept {
    std::uint32_t now = state_.fetch_sub(1) - 1;
    if ((now & closed_bit) == 0) [[likely]]
        return;
    // The last user of a closed descriptor ends it, within a use of its own: no other thread frees
    // the record meanwhile.
    while ((now & (users | ended_bit)) == 0)
        if (state_.cas(now, (now | ended_bit) + 1)) {
            end_descriptor();
            now = state_.fetch_sub(1) - 1;
            break;
        }
    // No use begins after the handle was released, so one thread comes here.
    if (now == (closed_bit | ended_bit | released_bit)) io_record_table::give(*this);
}

void io_record::end_descriptor() noexcept {
    const int ended = descriptor_.exchange(-1);
    if (owned_) sys::close_descriptor(ended);
}

void io_record::wake_all(wake_ups& woken, io_wake why) noexcept {
    for (one_side& each : sides_)
        while (const claimed one = claim_first(each.waiters)) {
            result_at(one) = why;
            woken.add(one);
        }
}

void io_record::cancel() noexcept {
    if (!begin_use()) return;
    event_hook* hook;
    {
        wake_ups woken;
        std::lock_guard guard(lock_);
        ++cancels_;
        wake_all(woken, io_wake::canceled);
        hook = std::exchange(hook_, nullptr);
    }
    end_use();
    if (hook) hook->call(*hook, io_wake::canceled);
}

bool io_record::may_wait(std::int64_t& waits_since) noexcept {
    if (waits_since == not_yet || SENNIT_MUTANT("cancel ends a call that waits again"))
        waits_since = cancels_;
    return waits_since == cancels_;
}

// Requires the lock. An owned descriptor leaves the set when the system closes it.
void io_record::leave_poller() noexcept {
    if (armed_ == 0) return;
    disarm_limit();
    if (!owned_) poller_->remove(descriptor());
    poller_->count_removed();
    armed_ = 0;
    poller_ = nullptr;
}

void io_record::close() noexcept {
    if (!begin_use()) return;
    event_hook* hook = nullptr;
    {
        wake_ups woken;
        std::lock_guard guard(lock_);
        if ((state_.fetch_or(closed_bit) & closed_bit) == 0) {
            ++generation_;
            leave_poller();
            wake_all(woken, io_wake::closed);
            if (!SENNIT_MUTANT("a close calls the hook")) hook = std::exchange(hook_, nullptr);
        }
    }
    end_use();
    if (hook) hook->call(*hook, io_wake::closed);
}

int io_record::give_up_descriptor() noexcept {
    const int given = descriptor();
    {
        std::lock_guard guard(lock_);
        owned_ = false; // Before leave_poller, which then removes it from the set.
    }
    close();
    return given;
}

void io_record::release() noexcept {
    adopt_if_forked();
    state_.fetch_add(1); // A use, also of a closed record.
    close();
    state_.fetch_or(released_bit);
    end_use();
}

// U4.
bool io_record::arm(io_direction of, std::error_code& error) {
    io_poller& mine = io_poller::here();
    bool first = false;
    {
        std::lock_guard guard(lock_);
        if (!is_open() || (armed_ & bit_of(of)) != 0) return true;
        io_poller& at = poller_ ? *poller_ : mine;
        const auto both = static_cast<std::uint8_t>(armed_ | bit_of(of));
        error = armed_ == 0 ? at.add(descriptor(), events_of(both), tag())
                            : at.modify(descriptor(), events_of(both), tag());
        if (error) return false;
        if (armed_ == 0) first = at.count_added(*this); // E1
        armed_ = both;
        poller_ = &at;
    }
    // A use is under way, and a waiter of this runtime: the poller lives.
    if (first) mine.runtime().first_event_registered();
    return true;
}

// U4 and U5.
bool io_record::lock_to_wait(const request& how, io_wake& result, std::error_code& error) {
    bool wants_timer = how.deadline_ns != never;
    for (;;) {
        lock_.lock();
        if (!is_open()) {
            lock_.unlock();
            result = io_wake::closed;
            return false;
        }
        if (side(how.direction).tick.load_rlx() != how.seen && // Written under the lock.
            !SENNIT_MUTANT("tick is compared before the wait")) {
            lock_.unlock();
            result = io_wake::ready;
            return false;
        }
        if ((armed_ & bit_of(how.direction)) != 0) {
            if (wants_timer && !limit_timer_) {
                lock_.unlock();
                make_limit_timer();
                wants_timer = false; // Without memory the wait has a timer of its own.
                continue;
            }
            if (may_wait(how.waits_since)) return true;
            lock_.unlock();
            result = io_wake::canceled;
            return false;
        }
        lock_.unlock();
        if (!arm(how.direction, error)) {
            result = io_wake::refused;
            return false;
        }
    }
}

io_wake io_record::wait(const request& how, std::error_code& error) {
    event_wait mine{.result = io_wake::ready};
    if (!lock_to_wait(how, mine.result, error)) return mine.result;
    // U6
    const wake_reason why =
        sched::block(side(how.direction).waiters, lock_, limit_wait(how, mine), &mine);
    return result_of(why, mine.result);
}

std::coroutine_handle<> io_record::begin_wait(std::coroutine_handle<> at, pending& one) {
    if (!lock_to_wait(one.how, one.wait.result, one.error)) return at;
    one.blocked = true;
    return task_wait::block(at, side(one.how.direction).waiters, lock_,
                            limit_wait(one.how, one.wait), &one.wait);
}

io_wake io_record::end_wait(pending& one) noexcept {
    if (!one.blocked) return one.wait.result;
    return result_of(task_wait::unblock(side(one.how.direction).waiters, lock_), one.wait.result);
}

// Called without the lock: another strand may do the same.
void io_record::make_limit_timer() noexcept {
    auto made = std::unique_ptr<limit_timer>(new (std::nothrow) limit_timer(*this));
    std::lock_guard guard(lock_);
    if (!limit_timer_) limit_timer_ = made.release();
}

wait_options io_record::limit_wait(const request& how, event_wait& waiter) noexcept {
    wait_options options{.deadline_ns = how.deadline_ns, .what = how.what, .on = this};
    if (how.deadline_ns == never || !limit_timer_) return options;
    waiter.deadline_ns = std::exchange(options.deadline_ns, never);
    if (!SENNIT_MUTANT("a wait with a limit arms the timer")) arm_limit(waiter.deadline_ns);
    return options;
}

void io_record::arm_limit(std::int64_t deadline_ns) noexcept {
    limit_timer& mine = *limit_timer_;
    if (mine.is_armed) {
        if (mine.deadline_ns <= deadline_ns || SENNIT_MUTANT("an earlier limit moves the timer"))
            return;
        // A timer that is about to take the lock finds this wait.
        if (!sched::disarm(mine, poller_->runtime())) return;
    }
    mine.is_armed = true;
    mine.deadline_ns = deadline_ns;
    sched::arm(mine, poller_->runtime());
}

void io_record::disarm_limit() noexcept {
    if (limit_timer_ && limit_timer_->is_armed && sched::disarm(*limit_timer_, poller_->runtime()))
        limit_timer_->is_armed = false;
}

// The timer has expired. The record may be in use for another descriptor by now, or for none.
void io_record::expire_limit() noexcept {
    wake_ups woken;
    std::lock_guard guard(lock_);
    const std::int64_t now = now_ns();
    std::int64_t earliest = never;
    for (one_side& each : sides_) {
        wait_entry* next;
        for (wait_entry* one = each.waiters.front(); one; one = next) {
            next = wait_list::after(*one); // Before `one` leaves the list.
            const std::int64_t deadline = static_cast<event_wait*>(one->data)->deadline_ns;
            if (deadline > now) {
                earliest = std::min(earliest, deadline);
            } else if (const claimed late = claim_entry(each.waiters, *one)) {
                result_at(late) = io_wake::timed_out;
                woken.add(late);
            }
        }
    }
    limit_timer_->is_armed = false;
    if (earliest != never && !SENNIT_MUTANT("a timer is armed for the limits that are left"))
        arm_limit(earliest);
}

bool io_record::prepare_entry(io_direction of, std::error_code& error) {
    if (SENNIT_MUTANT("a select has its direction watched")) return true;
    { // For a thread, `arm` may start the default runtime.
        std::lock_guard guard(lock_);
        if (!is_open() || (armed_ & bit_of(of)) != 0) return true;
    }
    return arm(of, error);
}

bool io_record::enter(io_direction of, std::uint32_t seen, std::int64_t& waits_since,
                      wait_entry& entry) noexcept {
    std::lock_guard guard(lock_);
    if (!is_open() && !SENNIT_MUTANT("a select is told of a closed descriptor"))
        static_cast<event_wait*>(entry.data)->result = io_wake::closed;
    const bool moved = side(of).tick.load_rlx() != seen && // Written under the lock.
                       !SENNIT_MUTANT("tick is compared before a select waits");
    // A direction that is no longer armed: the runtime of its poller has ended.
    if (!is_open() || moved || (armed_ & bit_of(of)) == 0) return false;
    if (!may_wait(waits_since)) {
        static_cast<event_wait*>(entry.data)->result = io_wake::canceled;
        return false;
    }
    enqueue(side(of).waiters, entry);
    return true;
}

void io_record::leave(io_direction of, wait_entry& entry) noexcept {
    std::lock_guard guard(lock_);
    if (!SENNIT_MUTANT("a select leaves the list of a descriptor"))
        dequeue(side(of).waiters, entry);
}

bool io_record::set_hook(event_hook& hook, std::uint32_t seen) noexcept {
    std::lock_guard guard(lock_);
    const bool moved =
        side(io_direction::read).tick.load_rlx() != seen && // Written under the lock.
        !SENNIT_MUTANT("tick is compared before a hook is set");
    // A direction that is no longer armed: it was closed, or the runtime of its poller has ended.
    if (moved || (armed_ & bit_of(io_direction::read)) == 0) return false;
    hook_ = &hook;
    return true;
}

bool io_record::take_hook() noexcept {
    std::lock_guard guard(lock_);
    return std::exchange(hook_, nullptr) != nullptr;
}

void io_record::signal(io_direction of) noexcept {
    wake_ups woken;
    std::lock_guard guard(lock_);
    if (!SENNIT_MUTANT("a signal is an event")) advance(of, false, woken);
}

void io_record::pass_on(io_direction of) noexcept {
    wake_ups woken;
    std::lock_guard guard(lock_);
    const claimed one = claim_first(side(of).waiters);
    if (!one) return;
    result_at(one) = side(of).waiters.empty() ? io_wake::ready : io_wake::ready_and_more;
    woken.add(one);
}

void io_record::note_drained(std::uint32_t seen) noexcept {
    // Written before the tick that this thread has read.
    if (hung_up_.load_rlx() == 0 || SENNIT_MUTANT("end of a stream that came with data"))
        drained_.store_rlx(seen + 1); // A hint: the tick decides.
}

// D3 and D4. Requires the lock. `all`: no waiter may expect a further event.
void io_record::advance(io_direction of, bool all, wake_ups& woken) noexcept {
    one_side& here = side(of);
    if (!SENNIT_MUTANT("tick of an event"))
        here.tick.store(here.tick.load_rlx() + 1);          // D3; written under the lock.
    while (const claimed one = claim_first(here.waiters)) { // D4
        const bool more =
            !all && !here.waiters.empty() && !SENNIT_MUTANT("an event tells of further waiters");
        result_at(one) = more ? io_wake::ready_and_more : io_wake::ready;
        woken.add(one);
        if (!all) break;
    }
}

// D1 to D4.
event_hook* io_record::deliver(std::uint64_t tag, std::uint32_t what, wake_ups& woken) noexcept {
    std::lock_guard guard(lock_);
    if (tag != this->tag() && !SENNIT_MUTANT("event of an earlier descriptor"))
        return nullptr; // D2
    const bool failed = (what & (bits::hang_up | bits::error)) != 0;
    if (failed || (what & bits::peer_closed) != 0) hung_up_.store(1);
    const bool reads = failed || (what & (bits::in | bits::peer_closed)) != 0;
    if (reads) advance(io_direction::read, failed, woken);
    if (failed || (what & bits::out) != 0) advance(io_direction::write, failed, woken);
    if (!reads) return nullptr;
    return SENNIT_MUTANT("an event takes the hook") ? hook_ : std::exchange(hook_, nullptr);
}

void io_record::detach(const io_poller& from) noexcept {
    event_hook* hook;
    {
        wake_ups woken;
        std::lock_guard guard(lock_);
        if (poller_ != &from) return;
        disarm_limit();
        armed_ = 0; // The set ends: nothing has to leave it.
        poller_ = nullptr;
        for (one_side& each : sides_)
            each.tick.store(each.tick.load_rlx() + 1); // As D3, under the lock.
        wake_all(woken, io_wake::ready);
        hook = std::exchange(hook_, nullptr);
    }
    if (hook) hook->call(*hook, io_wake::ready);
}

bool io_record::awaited(const io_poller& at) noexcept {
    std::lock_guard guard(lock_);
    return poller_ == &at && (hook_ || !sides_[0].waiters.empty() || !sides_[1].waiters.empty());
}

std::uint32_t io_record::count_immediate(io_direction of) noexcept {
    base::atomic<std::uint32_t>& count = side(of).immediate;
    const std::uint32_t now = count.load_rlx() + 1; // Orders nothing: a count for one user.
    count.store_rlx(now);                           // Orders nothing.
    return now;
}

namespace {
constinit base::spin_lock adoption; // One thread of a child adopts a record.
const base::atfork_lock hold_adoption(adoption);
} // namespace

// In a child of fork(). The parent's waiters and users do not exist here, and the parent's poller
// watches for the parent.
void io_record::adopt_after_fork() noexcept {
    std::lock_guard guard(adoption);
    if (fork_generation_.load_rlx() == sys::fork_generation()) return; // Under the lock.
    std::construct_at(&lock_);
    for (one_side& each : sides_) std::construct_at(&each.waiters);
    if (limit_timer_) std::construct_at(limit_timer_, *this); // The timers are the parent's.
    armed_ = 0;
    poller_ = nullptr;
    hook_ = nullptr;
    state_.fetch_and(closed_bit | released_bit | ended_bit);
    fork_generation_.store(sys::fork_generation());
}

void io_record::adopt_if_forked() noexcept {
    if (fork_generation_.load() != sys::fork_generation()) [[unlikely]]
        adopt_after_fork();
}

} // namespace sennit::sched
