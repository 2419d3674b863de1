// SPDX-License-Identifier: Apache-2.0
// The monitor itself: its owner, its queues, and the protocol that passes it from one owner to the
// next.
//
// State of `word_`: the owner's identity (0: free), and the flag `has_waiters`. The flag tells a
// leaving owner to look at the entry queue, because a task waits there, or has waited there since
// the monitor was last free. An owner takes the word from 0, and returns it to 0, without the lock.
// An owner that sees `has_waiters` returns it to 0 under `lock_` only. No task enters past a
// waiting task. A monitor with waiters is handed over, with `has_waiters` set, and is never free in
// between; an owner therefore hands it over by a store, without the lock. A task that is about to
// wait holds the lock and sets `has_waiters` by a compare-and-swap, which fails if the owner has
// changed.
//
// Next owner. When the owner leaves, the newest urgent task comes next. A task is urgent if it was
// signalled, or if it has let another task run first. Without urgent tasks, the oldest waiter of
// the entry queue comes next. The urgent list belongs to the owner and needs no lock. An entrant
// may wait for several monitors. Each becomes its own when it is handed over, and the entrant
// continues with the last one.
//
// Leaving to wait. A task that waits inside a monitor hands it over before it sleeps. It notifies
// the next task last, if possible by a switch to that task (sched::wake_and_park). As long as the
// next owner of one of the monitors does not run, no task can have all of them. So no task can make
// the waiter continue before the waiter is saved.
//
// External scheduling. An owner that waits for a call (waitfor) stays the owner; `accepting_` says
// which calls may run before it continues. A task that brings such a call claims the acceptance,
// once, and then has the acceptor's rights over its monitors. It withdraws the acceptance from all
// monitors, makes itself the owner of the monitors of its call, and puts the acceptor on the urgent
// list behind it. A task that returns from a wait without a signal does likewise, if the acceptor
// owns all the monitors that it lacks: it was inside before, and an owner that accepts over and
// over never leaves. The acceptor keeps waiting behind it.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/intrusive_queue.hpp"
#include "sennit/detail/base/intrusive_stack.hpp"
#include "sennit/detail/core/strand.hpp"
#include "sennit/detail/core/task_forward.hpp"
#include "sennit/detail/core/wait.hpp"
#include "sennit/detail/sys/single_threaded.hpp"
#include "sennit/detail/sys/spin_lock.hpp"

#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdint>

namespace sennit {

class monitor;

namespace detail {

inline constexpr std::size_t max_monitors = 8; // in one set

// identifies the member that a call is of; null: a call that cannot be accepted
using member_key = const void*;
template <auto Member>
inline constexpr char key_of_member = 0;
inline constexpr char key_of_destructor = 0;
// the key of a task that has waited inside, and enters its monitors again
inline constexpr char key_of_return = 0;

inline std::uintptr_t self_identity() noexcept {
    return reinterpret_cast<std::uintptr_t>(sched::current_identity());
}

// Enters a constant object like any other: the members that entering changes are mutable.
inline monitor& as_monitor(const monitor& one) noexcept {
    return const_cast<monitor&>(one);
}

// A set of monitors, each once, ordered by address. All tasks that want several monitors take them
// in this order.
class monitor_set {
public:
    monitor_set() noexcept = default;
    template <class... M>
    explicit monitor_set(const monitor& first, const M&... rest) noexcept {
        all_[count_++] = &as_monitor(first);
        (add(as_monitor(rest)), ...);
    }
    // Takes monitors that are already in order; a monitor may occur several times.
    monitor_set(monitor* const* sorted, std::size_t count) noexcept {
        for (std::size_t i = 0; i < count; ++i)
            if (i == 0 || sorted[i] != sorted[i - 1]) all_[count_++] = sorted[i];
    }
    void add(monitor& one) noexcept;
    std::size_t size() const noexcept { return count_; }
    monitor& operator[](std::size_t i) const noexcept { return *all_[i]; }
    // Returns true if `other` contains each monitor of this set.
    bool within(const monitor_set& other) const noexcept;
    bool operator==(const monitor_set& other) const noexcept {
        bool same = count_ == other.count_;
        for (std::size_t i = 0; same && i < count_; ++i) same = all_[i] == other.all_[i];
        return same;
    }

private:
    std::size_t count_ = 0;
    std::array<monitor*, max_monitors> all_; // the first `count_` are valid
};

struct entrant;

// The place of an entrant in the lists of one monitor.
struct queue_node : base::list_node {
    entrant* whose;
};

// A task that waits until it owns a number of monitors. The object lies in the task's frame.
struct entrant {
    std::uintptr_t identity;
    sched::wait_point* point; // where the task sleeps
    // The number of monitors that the entrant still lacks, plus one while it must not sleep yet, or
    // not here.
    base::atomic<std::uint32_t> missing;
    // Written by a task that wants to enter, and meaningless for any other.
    member_key member;
    const monitor_set* wanted;
    bool accepted; // the task was given all of the monitors

    entrant(std::uintptr_t who, sched::wait_point& where, std::uint32_t owed) noexcept
        : identity(who), point(&where), missing(owed) {}
    // Grants `count` missing monitors. Returns true if they were the last; the entrant then sleeps
    // until the caller wakes it. Otherwise the entrant may already be gone. If no more than `count`
    // monitors are missing, no other task grants any more, and the function needs no locked
    // instruction.
    [[nodiscard]] bool has_all_with(std::uint32_t count) noexcept {
        // The load pairs with the decrement by another owner and with wait_rest. The wake-up
        // publishes the 0 to the entrant.
        if (missing.load_acq() != count)
            return base::elidable(missing).fetch_sub_acq_rel(count) == count;
        missing.store_rlx(0);
        return true;
    }
    void grant(std::uint32_t count) noexcept {
        if (has_all_with(count)) sched::wake(*point);
    }
    // For an entrant that was granted monitors before it slept: waits for the missing ones.
    void wait_rest(const char* what, const void* on) noexcept;
    // Wakes `next`, which has one of the missing monitors, and waits for the missing monitors. No
    // task knew of the caller's sleep before.
    void wait_behind(entrant& next, sched::strand& own, const char* what, const void* on) noexcept;
};

// The nodes of an entrant, one for each monitor of a set; they are not constructed before their
// first use.
struct queue_nodes {
    queue_nodes() noexcept {}
    ~queue_nodes() {}
    union {
        std::array<queue_node, max_monitors> of;
    };
};

struct accept_request;
struct entrance;

// An entrant that has been granted monitors but not yet been woken. An entrant that gets several
// monitors from one owner is woken once, for all of them.
struct pending_wakeup {
    entrant* of;
    std::uint32_t count = 1;
    explicit pending_wakeup(entrant* first = nullptr) noexcept : of(first) {}
    // Adds a grant for `next`; null: there is none. `next` cannot be gone, because it still lacks
    // the monitors of which it has not been told.
    void add(entrant* next) noexcept {
        if (!next) return;
        if (next != of) notify();
        count = next == of ? count + 1 : 1;
        of = next;
    }
    void notify() noexcept {
        if (of) of->grant(count);
    }
};

// The operations of conditions and waitfor on several monitors. Implemented in
// src/monitor/core.cpp.
struct monitor_ops {
    // Enters `one`, which is not free. Returns true if the caller was not inside before.
    static bool enter_one(monitor& one, std::uintptr_t me, member_key member) noexcept;
    // Enters all[at], which is not free, and the monitors after it, in this order. Bit i of the
    // result says that the caller was not inside all[i] before.
    static unsigned enter_from(monitor* const* all, std::size_t count, std::size_t at,
                               std::uintptr_t me, member_key member) noexcept;
    // Leaves those of the first `count` monitors whose bit is set, from the last one on, and hands
    // them to their next owners.
    static void leave_from(monitor* const* all, std::size_t count, unsigned fresh,
                           std::uintptr_t me) noexcept;
    static void enter(const monitor_set& all, std::uintptr_t me) noexcept;
    // Enters all monitors again after a wait that has ended by its limit or by cancellation.
    static void reenter(const monitor_set& all, std::uintptr_t me) noexcept;
    static void leave(const monitor_set& all, std::uintptr_t me) noexcept;
    static bool owned(const monitor_set& all, std::uintptr_t me) noexcept;
    // Makes `key` the owner of the monitor, in place of a running task, until a task adopts it.
    // Blocks while a task is inside.
    static void reserve(monitor& fresh, const void* key) noexcept;
    // gives up a reserved monitor that no task will adopt
    static void release(monitor& reserved) noexcept;
    static void adopt(monitor& reserved) noexcept;
    static bool owned(const monitor& one, std::uintptr_t me) noexcept;
    // The halves of a task's entry. enter_or_lock enters the monitor and returns true, or returns
    // false with the monitor's lock held. suspend_to_enter then puts the task into the entry queue,
    // and returns true; false: waitfor has accepted the call, and the task is inside.
    static bool enter_or_lock(monitor& one, std::uintptr_t me) noexcept;
    static bool suspend_to_enter(monitor& one, entrant& mine, queue_node& place,
                                 std::coroutine_handle<> at) noexcept;
    // enter_from and reenter for tasks. Only the call may throw: std::bad_alloc.
    static task<unsigned> async_enter_from(monitor* const* all, std::size_t count, std::size_t at,
                                           std::uintptr_t me, member_key member);
    static task<void> async_reenter(const monitor_set& all, std::uintptr_t me);
};

} // namespace detail

// The base class of monitors; see sennit/monitor.hpp.
class monitor {
public:
    monitor() noexcept = default;
    monitor(const monitor&) = delete;
    monitor& operator=(const monitor&) = delete;
    // Ends the program if a task is inside or waits.
    ~monitor();

private:
    template <std::size_t>
    friend class inside;
    friend class condition;
    friend struct detail::accept_request;
    friend struct detail::monitor_ops;
    using identity = std::uintptr_t;
    static constexpr identity has_waiters = 1;

    bool enter_now(identity me) noexcept { // for a set of several monitors
        identity seen = 0;
        // The load is a hint; the compare-and-swap pairs with leave_now and leave_in_solitude.
        return word_.load_rlx() == 0 && base::elidable(word_).cas_acq(seen, me);
    }
    bool enter_elided(identity me) noexcept {
        identity seen = 0;
        // `taken_` is a hint; the compare-and-swap pairs with leave_elided.
        if (taken_.load_rlx() != 0 || !base::elidable(word_).cas_acq(seen, me)) return false;
        taken_.store_rlx(1); // a hint
        return true;
    }
    // Enters one of several monitors, between base::begin_exclusive and end_exclusive.
    bool enter_in_solitude(identity me) noexcept {
        const bool free = word_.load_acq() == 0; // pairs with leave_in_solitude and leave_now
        if (free) word_.store_rlx(me); // orders nothing: the load has the order of the enter
        return free;
    }
    bool leave_in_solitude(identity me) noexcept {
        // Orders nothing: the word says that this task owns the monitor, or that a waiter has set
        // its flag.
        const bool nobody_next = urgent_.empty() && word_.load_rlx() == me;
        if (nobody_next) word_.store_rel(0); // pairs with enter_now
        return nobody_next;
    }
    bool owned_by(identity who) const noexcept {
        // Orders nothing: the result is true only if this owner wrote the word.
        return (word_.load_rlx() & ~has_waiters) == who;
    }
    // Leaves the monitor. Returns false if a task comes next; the monitor is then still owned.
    bool leave_now(identity me) noexcept {
        identity seen = me;
        // Pairs with enter_now.
        return urgent_.empty() && base::elidable(word_).cas_rel(seen, 0);
    }
    bool leave_elided(identity me) noexcept {
        identity seen = me;
        if (!urgent_.empty()) return false;
        taken_.store_rlx(0); // a hint
        // Pairs with enter_now.
        return base::elidable(word_).cas_rel(seen, 0);
    }
    void transfer_and_notify() noexcept;
    detail::entrant* transfer_to_next() noexcept;
    // Leaves the monitor and hands it to the next owner, which is returned but not yet woken; null:
    // there is none.
    detail::entrant* leave_and_transfer(identity me) noexcept;
    enum class entered { this_one, all };
    entered enter_slow(const detail::monitor_set& all, identity me,
                       detail::member_key member) noexcept;
    void set_next_owner(identity next) noexcept;
    void push_urgent_behind(detail::queue_node& later, identity next) noexcept;
    static const void* holder(const void* on) noexcept; // for reports

    mutable base::atomic<identity> word_{0};
    mutable base::intrusive_stack<detail::queue_node> urgent_; // used by the owner only
    mutable base::spin_lock lock_;                             // guards the two members below
    // Nonzero: the monitor is probably not free. A hint for a task that enters this monitor alone.
    // A look at the word would wait for the locked instruction by which the monitor was left, 3 ns
    // of an empty call (Xeon). A task that enters several monitors waits for the locked
    // instructions of the other monitors in any case, and leaves the hint unchanged.
    mutable base::atomic<std::uint32_t> taken_{0};
    mutable base::intrusive_queue<detail::queue_node> waiting_;
    // Number of tasks that come back from a wait and may be in `waiting_`.
    mutable base::atomic<std::uint32_t> returning_{0};
    mutable detail::accept_request* accepting_ = nullptr;
};

inline bool detail::monitor_ops::owned(const monitor& one, std::uintptr_t me) noexcept {
    return one.owned_by(me);
}
inline bool detail::monitor_ops::owned(const monitor_set& all, std::uintptr_t me) noexcept {
    std::size_t i = 0; // a set has at least one element
    do {
        if (!all[i].owned_by(me)) return false;
    } while (++i < all.size());
    return true;
}

} // namespace sennit
