// SPDX-License-Identifier: Apache-2.0
// The monitor itself: who owns it, who comes next, and how it passes from one to the other.
//
// State of `word_`: the owner's identity (0: free), and `has_waiters`: who leaves has to look at
// the entry queue, since somebody waits there, or has since it was free last. It leaves 0, and goes
// back to it, without the lock; with `has_waiters` it goes back under `lock_` only. Nobody gets in
// past somebody that waits: a monitor that is wanted is handed over, never free in between, and
// with `has_waiters`: so an owner hands it over by a store, without the lock. Who is about to wait
// has the lock and sets `has_waiters` by a compare-and-swap, which fails where the owner has
// changed.
//
// Who is next, when the owner goes: the newest of the urgent ones (signalled, or who has let
// somebody else go before and goes on after), else the oldest of those that wait to enter. The
// urgent list is the owner's: no lock. A claimant may be owed several monitors at once; each is its
// as soon as it is handed over, and it goes on with the last one.
//
// Who leaves it to wait in it does so before it sleeps, but tells the next one last, by a switch to
// it where that is possible (sched::wake_and_park): as long as who has one of the monitors does not
// run, nobody can have all of them, and so nobody can make the waiter go on before it is saved.
//
// An owner that waits for a call (waitfor) stays the owner; `accepting_` says which calls may go
// before it. Whoever brings such a call claims the acceptance, once, and then has the acceptor's
// rights over its monitors: it takes the acceptance back everywhere, and makes itself the owner of
// those it calls on, with the acceptor urgent behind it. So does who comes back from a wait that
// nobody ended by a signal, if all that it lacks is the acceptor's: it was inside, and an owner
// that accepts over and over never leaves. The acceptor waits on behind it.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/intrusive_queue.hpp"
#include "sennit/detail/base/intrusive_stack.hpp"
#include "sennit/detail/core/strand.hpp"
#include "sennit/detail/core/wait.hpp"
#include "sennit/detail/sys/single_threaded.hpp"
#include "sennit/detail/sys/spin_lock.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sennit {

class monitor;

namespace detail {

inline constexpr std::size_t most_monitors = 8; // at once

using member_key = const void*; // which member a call is of; null: none that could be accepted
template <auto Member>
inline constexpr char key_of_member = 0;
inline constexpr char key_of_destructor = 0;
inline constexpr char key_of_return = 0; // of who has waited inside, and lacks what it wants

inline std::uintptr_t self_identity() noexcept {
    return reinterpret_cast<std::uintptr_t>(sched::current_identity());
}

// A constant object is entered as any other: all that entering changes is mutable.
inline monitor& as_monitor(const monitor& one) noexcept {
    return const_cast<monitor&>(one);
}

// Some monitors, each once, by address. All who want several take them in this order.
class monitor_set {
public:
    monitor_set() noexcept = default;
    template <class... M>
    explicit monitor_set(const monitor& first, const M&... rest) noexcept {
        all_[count_++] = &as_monitor(first);
        (add(as_monitor(rest)), ...);
    }
    // In order already; some may stand there several times.
    monitor_set(monitor* const* sorted, std::size_t count) noexcept {
        for (std::size_t i = 0; i < count; ++i)
            if (i == 0 || sorted[i] != sorted[i - 1]) all_[count_++] = sorted[i];
    }
    void add(monitor& one) noexcept;
    std::size_t size() const noexcept { return count_; }
    monitor& operator[](std::size_t i) const noexcept { return *all_[i]; }
    bool within(const monitor_set& other) const noexcept; // each of these is one of those
    bool operator==(const monitor_set& other) const noexcept {
        bool same = count_ == other.count_;
        for (std::size_t i = 0; same && i < count_; ++i) same = all_[i] == other.all_[i];
        return same;
    }

private:
    std::size_t count_ = 0;
    std::array<monitor*, most_monitors> all_; // the first `count_`
};

struct entrant;

// One monitor's turn of a claimant, in that monitor's lists.
struct queue_node : base::list_node {
    entrant* whose;
};

// Somebody who shall own monitors, and sleeps until it does. In its frame.
struct entrant {
    std::uintptr_t identity;
    sched::wait_point* point; // where it sleeps
    // Monitors to be handed over yet; and one more while it may not sleep yet, or not here.
    base::atomic<std::uint32_t> missing;
    // Of one that wants to enter, which writes them; of others they mean nothing.
    member_key member;
    const monitor_set* wanted;
    bool accepted; // it was given all of them

    entrant(std::uintptr_t who, sched::wait_point& where, std::uint32_t owed) noexcept
        : identity(who), point(&where), missing(owed) {}
    // `count` of the missing are there. True: they were the last, and it sleeps until the caller
    // wakes it. Else it may be gone. (If no more than these are missing, nobody else counts any
    // more, and it takes no locked instruction.)
    [[nodiscard]] bool has_all_with(std::uint32_t count) noexcept {
        // These pair with the others' and with wait_rest's; the wake tells it of the 0.
        if (missing.load_acq() != count)
            return base::elidable(missing).fetch_sub_acq_rel(count) == count;
        missing.store_rlx(0);
        return true;
    }
    void grant(std::uint32_t count) noexcept {
        if (has_all_with(count)) sched::wake(*point);
    }
    // For one that was told to go on before it slept: waits for what is missing.
    void wait_rest(const char* what, const void* on) noexcept;
    // Wakes `next`, who has a monitor that is missing, and waits for it; nobody was told of the
    // caller's sleep before.
    void wait_behind(entrant& next, sched::strand& own, const char* what, const void* on) noexcept;
};

// A claimant's turns with each of a set; not made before they are used.
struct queue_nodes {
    queue_nodes() noexcept {}
    ~queue_nodes() {}
    union {
        std::array<queue_node, most_monitors> of;
    };
};

struct accept_request;
struct entrance;

// Who has got monitors, but is not told yet: one that gets several from the same owner is told
// once, of all.
struct pending_wakeup {
    entrant* of;
    std::uint32_t count = 1;
    explicit pending_wakeup(entrant* first = nullptr) noexcept : of(first) {}
    // Null: nobody. It cannot be gone: it misses what it has not been told of.
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

// What models of monitors do with several at once. In src/monitor/core.cpp.
struct monitor_ops {
    // Enters `one`, which is not free. True: it was not the caller's before.
    static bool enter_one(monitor& one, std::uintptr_t me, member_key member) noexcept;
    // Enters all[at], which is not free, and those after it, in this order; bit i of the answer:
    // all[i] was not the caller's before.
    static unsigned enter_from(monitor* const* all, std::size_t count, std::size_t at,
                               std::uintptr_t me, member_key member) noexcept;
    // Leaves those of the first `count` whose bit is set, from the last one on, where somebody
    // comes next.
    static void leave_from(monitor* const* all, std::size_t count, unsigned fresh,
                           std::uintptr_t me) noexcept;
    static void enter(const monitor_set& all, std::uintptr_t me) noexcept;
    // The same after a wait that has ended by its limit or a cancellation.
    static void reenter(const monitor_set& all, std::uintptr_t me) noexcept;
    static void leave(const monitor_set& all, std::uintptr_t me) noexcept;
    static bool owned(const monitor_set& all, std::uintptr_t me) noexcept;
    // Owned by nobody who runs, named by `key`, until somebody adopts it. Blocks while somebody is
    // inside.
    static void reserve(monitor& fresh, const void* key) noexcept;
    static void release(monitor& reserved) noexcept; // nobody will
    static void adopt(monitor& reserved) noexcept;
};

} // namespace detail

// A class becomes a monitor by deriving from this; see sennit/monitor.hpp.
class monitor {
public:
    monitor() noexcept = default;
    monitor(const monitor&) = delete;
    monitor& operator=(const monitor&) = delete;
    // Ends the program when somebody is inside or waits.
    ~monitor();

private:
    template <std::size_t>
    friend class inside;
    friend class condition;
    friend struct detail::accept_request;
    friend struct detail::monitor_ops;
    using identity = std::uintptr_t;
    static constexpr identity has_waiters = 1;

    bool enter_now(identity me) noexcept { // one of several
        identity seen = 0;
        return word_.load_rlx() == 0 &&
               base::elidable(word_).cas_acq(seen, me); // a hint; pairs with leave
    }
    bool enter_elided(identity me) noexcept {
        identity seen = 0;
        if (taken_.load_rlx() != 0 || !base::elidable(word_).cas_acq(seen, me))
            return false;    // a hint; pairs with leave
        taken_.store_rlx(1); // a hint
        return true;
    }
    // The same of one of several, between base::begin_exclusive and end_exclusive.
    bool enter_in_solitude(identity me) noexcept {
        const bool free = word_.load_acq() == 0; // pairs with leave
        if (free) word_.store_rlx(me);           // orders nothing, as the compare-and-swap
        return free;
    }
    bool leave_in_solitude(identity me) noexcept {
        const bool nobody_next =
            urgent_.empty() && word_.load_rlx() == me; // orders nothing: ours, or wanted
        if (nobody_next) word_.store_rel(0);           // pairs with enter_now
        return nobody_next;
    }
    bool owned_by(identity who) const noexcept {
        return (word_.load_rlx() & ~has_waiters) == who;
    } // true only if it is
    // Unless somebody comes next.
    bool leave_now(identity me) noexcept {
        identity seen = me;
        return urgent_.empty() && base::elidable(word_).cas_rel(seen, 0); // pairs with enter_now
    }
    bool leave_elided(identity me) noexcept {
        identity seen = me;
        if (!urgent_.empty()) return false;
        taken_.store_rlx(0);                           // a hint
        return base::elidable(word_).cas_rel(seen, 0); // pairs with enter_now
    }
    void transfer_and_notify() noexcept;
    detail::entrant* transfer_to_next() noexcept;
    // Who comes next is not told yet; null: nobody does.
    detail::entrant* leave_and_transfer(identity me) noexcept;
    enum class entered { this_one, all };
    entered enter_slow(const detail::monitor_set& all, identity me,
                       detail::member_key member) noexcept;
    void set_next_owner(identity next) noexcept;
    void push_urgent_behind(detail::queue_node& later, identity next) noexcept;
    static const void* holder(const void* on) noexcept; // for reports

    mutable base::atomic<identity> word_{0};
    mutable base::intrusive_stack<detail::queue_node> urgent_; // the owner's
    mutable base::spin_lock lock_;                             // guards the two below
    // Not zero: probably not free. A hint for who enters no other with it: a look at the word would
    // wait for the locked instruction by which it was left, 3 ns of an empty call (Xeon). Who
    // enters several waits for the others' anyway, and leaves it as it is.
    mutable base::atomic<std::uint32_t> taken_{0};
    mutable base::intrusive_queue<detail::queue_node> waiting_;
    // How many come back from a wait and may be in it.
    mutable base::atomic<std::uint32_t> returning_{0};
    mutable detail::accept_request* accepting_ = nullptr;
};

inline bool detail::monitor_ops::owned(const monitor_set& all, std::uintptr_t me) noexcept {
    std::size_t i = 0; // there is one at least
    do {
        if (!all[i].owned_by(me)) return false;
    } while (++i < all.size());
    return true;
}

} // namespace sennit
