// SPDX-License-Identifier: Apache-2.0
// Blocking for a strand whose wait more than one event may end: sources, a deadline, a cancelled
// scope, a stop token. And the simple case, in which only one source may end the wait.
//
// Every lock, signal, channel and future of the library blocks through this header. Each of them
// keeps a list of `wait_entry` under its own lock. It does not matter whether a fiber, a forked
// child or a plain thread waits.
//
// State of a wait_point: preparing (may be claimed, does not sleep yet); waiting (saved completely:
// the claimant must wake it); otherwise the result, which the claimant wrote once.
//
// Protocol. To end a wait, a thread claims it, with one compare-and-swap from preparing or waiting
// to the result. The winner wakes the wait if its state was waiting; a loser must not touch it
// again. A source claims under its own lock. The waiter takes that lock to remove its entry before
// its frame ends, so a loser always reads the entry in living memory. The winner writes its result
// for the waiter (such as a channel's value) before it leaves that lock or wakes. A wait that only
// one source can end (`sole`) needs no claim: the source's lock decides.
//
// Tested by tests/sim/scenarios/wait.cpp.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/intrusive_queue.hpp"
#include "sennit/detail/core/strand.hpp"
#include "sennit/detail/core/timer.hpp"
#include "sennit/detail/core/waiter.hpp"
#include "sennit/detail/sys/spin_lock.hpp"

#include <cstddef>
#include <cstdint>

namespace sennit::sched {

class cancel_scope;

// The reason why a wait ended; `source + i`: through the waiter's entry i.
enum class wake_reason : std::uint32_t {
    preparing,
    waiting,
    timed_out,
    cancelled,
    stopped,
    source
};

struct wait_point : waiter {
    explicit wait_point(bool only_one_source = false) noexcept : sole(only_one_source) {}

    base::atomic<std::uint32_t> state{static_cast<std::uint32_t>(wake_reason::preparing)};
    bool sole; // Only one source can end the wait. Written before the wait is published.
    wake_reason reason() const noexcept {
        // Pairs with claim.
        return static_cast<wake_reason>(state.load_acq());
    }
};

// The waiter's place in the list of one source. The lock of that list guards it. An entry lies
// within 2 GiB of its point: in one object, or on one stack.
struct wait_entry : base::list_node {
    wait_entry(const wait_point& whose, unsigned source = 0, void* given = nullptr) noexcept
        : data(given), to_point(static_cast<std::int32_t>(address_of(whose) - address_of(*this))),
          number(static_cast<std::uint16_t>(source)) {}
    wait_entry(const wait_entry&) = delete;
    void* data;            // belongs to the source: where a value is stored
    std::int32_t to_point; // bytes from here to the point
    std::uint16_t number;
    bool queued = false;
    wait_point& point() const noexcept {
        // SAFETY: the constructor has stored the distance, and an entry does not move.
        return *reinterpret_cast<wait_point*>(address_of(*this) + to_point);
    }
    wake_reason why() const noexcept {
        return static_cast<wake_reason>(static_cast<std::uint32_t>(wake_reason::source) + number);
    }

private:
    template <class T>
    static std::intptr_t address_of(const T& object) noexcept {
        return reinterpret_cast<std::intptr_t>(&object);
    }
};
using wait_list = base::intrusive_queue<wait_entry>;

inline void enqueue(wait_list& list, wait_entry& entry) noexcept {
    list.push_back(entry);
    entry.queued = true;
}
inline void dequeue(wait_list& list, wait_entry& entry) noexcept {
    if (entry.queued) list.remove(entry);
    entry.queued = false;
}

// The result of a claim: whether the caller may end the wait, and whether it must then wake it.
enum class claim_result { lost, wake_it, leave_it };
claim_result claim(wait_point& point, wake_reason why) noexcept;

// For a source, under its lock: removes entries from the list until one can be claimed. Null: there
// is no waiter. The caller transfers its value, if any, and then calls `end_wait` with the result,
// inside or outside its lock.
struct claimed { // 16 bytes, so that it is returned in registers
    wait_entry* entry = nullptr;
    bool asleep = false; // if false, the entry may be gone once the source's lock is free
    explicit operator bool() const noexcept { return entry != nullptr; }
};
// Claims the first entry, whose waiter waits for nothing else.
inline claimed claim_sole(wait_list& list) noexcept {
    wait_entry& entry = *list.pop_front();
    entry.queued = false;
    // orders nothing: the wake does
    entry.point().state.store_rlx(static_cast<std::uint32_t>(entry.why()));
    return {&entry, true};
}
// the slow path of claim_first
claimed claim_contended(wait_list& list, std::size_t most) noexcept;
// Removes `entry` from `list`, in which it is, and claims it. Null: its wait has ended otherwise.
claimed claim_entry(wait_list& list, wait_entry& entry) noexcept;
// Looks at up to `most` entries, and removes those whose wait has ended otherwise.
inline claimed claim_first(wait_list& list, std::size_t most = SIZE_MAX) noexcept {
    const wait_entry* entry = list.front();
    if (!entry || most == 0) return {};
    return entry->point().sole ? claim_sole(list) : claim_contended(list, most);
}
inline void end_wait(const claimed& one) noexcept {
    if (one.asleep) wake(one.entry->point());
}
// Claims waiters under a source's lock, and wakes them in its destructor. Declared before the guard
// of that lock, it wakes after the lock is released.
class wake_ups {
public:
    wake_ups() noexcept = default;
    ~wake_ups() {
        while (const wait_entry* one = asleep_.pop_front()) wake(one->point());
    }
    wake_ups(const wake_ups&) = delete;

    // False: there is no waiter.
    bool take_first(wait_list& list) noexcept {
        const claimed one = claim_first(list);
        add(one);
        return static_cast<bool>(one);
    }
    void take_all(wait_list& list) noexcept {
        while (take_first(list)) {
        }
    }
    void add(const claimed& one) noexcept {
        if (one.asleep) asleep_.push_back(*one.entry);
    }

private:
    base::intrusive_queue<wait_entry> asleep_; // In no list of a source any more.
};

// Claims and wakes all waiters of the list, under the list's lock.
inline void wake_all(wait_list& list) noexcept {
    wake_ups().take_all(list);
}

struct wait_options {
    std::int64_t deadline_ns = never;
    bool cancellable = true; // a cancelled scope ends the wait
    // for reports, as `on` and `holder`; each kind of wait has its own text
    const char* what = "wait";
    const void* on = nullptr; // the object; null: none
    // Returns the identity (detail/core/strand.hpp) that must act before the wait can end, if
    // exactly one can; null: any strand may end the wait. Called while the waiter is blocked and
    // all workers are suspended, so it takes no lock.
    const void* (*holder)(const void* on) noexcept = nullptr;
};

// Blocks the calling context or thread until the point is claimed, and returns the reason.
// `publish(argument)` is called when the caller is saved completely. There it releases the lock
// under which it put its entry into a list. `publish` may be null if the point was visible to
// sources before (several sources, no lock held). The caller then removes its entries from the
// lists: all entries but the one that ended the wait are still there.
wake_reason wait(wait_point& point, void (*publish)(void*) noexcept, void* argument,
                 const wait_options& options = {}) noexcept;

// Like wait, and releases the lock `held` when the caller is saved completely.
wake_reason wait_unlocking(wait_point& point, base::spin_lock& held,
                           const wait_options& options = {}) noexcept;

// The common case: puts the caller into `list` (at its end, or first), whose lock is held, and
// blocks it until an entry of that list is claimed or the options end the wait. The lock is free
// and the entry gone afterwards. `data` is what the list's owner finds in the entry.
wake_reason block(wait_list& list, base::spin_lock& held, const wait_options& options = {},
                  void* data = nullptr, bool first = false) noexcept;

// Whether the awaited event may happen while the caller keeps its processor: false on a runtime's
// only worker.
bool others_run() noexcept;

// The innermost scope of the running strand; null: none.
inline cancel_scope* current_scope() noexcept {
    return this_strand().scope;
}
// True if the running strand is in a scope that may be cancelled.
inline bool in_cancel_scope() noexcept {
    return current_scope() != nullptr;
}
// True if the running strand's scope is cancelled.
bool cancellation_requested() noexcept;

} // namespace sennit::sched
