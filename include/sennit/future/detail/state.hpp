// SPDX-License-Identifier: Apache-2.0
// future_state: the part of a promise and its futures that does not depend on the value type: the
// state word, the error, the waiters and the continuations.
//
// State word:
// * empty: no value and no error.
// * setting: one setter has won the right to store the value or the error.
// * ready: the value or the error is stored.
//
// Protocol. The setter goes from empty to setting by a compare-and-swap. It then stores the value
// outside the lock, because user code that copies the value may block or throw. If that code
// throws, the word goes back to empty. The setter goes from setting to ready under the lock, and
// takes all waiters and continuations off their lists in the same critical section. A caller that
// adds itself under the lock is therefore either on a list at that moment, or sees that the state
// is ready. The setter wakes the waiters and runs the continuations outside the lock, and does not
// touch the state for them any more. A continuation never runs another continuation inside: it
// appends the continuations that it makes ready to its caller's queue, so chains of any length take
// no stack.
//
// Lifetime. The state is reference-counted. The setter holds a reference of its own until it has
// published.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/intrusive_queue.hpp"
#include "sennit/detail/core/task_result.hpp"
#include "sennit/detail/core/wait.hpp"
#include "sennit/detail/sys/spin_lock.hpp"

#include <coroutine>
#include <cstdint>
#include <exception>
#include <future>

namespace sennit::sched {
class task_strand;
}

namespace sennit::detail {

struct continuation;
using continuation_queue = base::intrusive_queue<continuation>; // Due, the next one first.

// The action that runs once a state is ready. `act` is called once, on the thread that made the
// state ready, or on the thread that attached the continuation to a ready state. It must not block.
// The state may be gone by then, unless the continuation holds a reference.
struct continuation : base::list_node {
    using action = void (*)(continuation&, continuation_queue& due) noexcept;
    explicit continuation(action f) noexcept : act(f) {}
    action act;
    bool queued = false; // written under the state's lock
    bool failed = false; // valid when `act` is called: the state holds an error
};

// The continuations of a state, the newest first: one word, because most states have none.
class continuation_list {
public:
    void push(continuation& one) noexcept {
        one.previous = nullptr;
        one.next = newest_;
        if (newest_) newest_->previous = &one;
        newest_ = &one;
    }
    void remove(continuation& one) noexcept {
        (one.previous ? one.previous->next : newest_) = one.next;
        if (one.next) one.next->previous = one.previous;
    }
    // Removes the newest one. Null: there is none.
    continuation* pop() noexcept {
        base::list_node* const found = newest_;
        if (found) newest_ = found->next;
        return static_cast<continuation*>(found);
    }

private:
    base::list_node* newest_ = nullptr;
};

class future_state {
public:
    using destroyer = void (*)(future_state*) noexcept;
    explicit future_state(destroyer destroy) noexcept : destroy_(destroy) {}
    future_state(const future_state&) = delete;

    void add_reference() noexcept {
        // Orders nothing: the caller already has a reference.
        references_.fetch_add_rlx(1);
    }
    void drop_reference() noexcept {
        // Pairs with the drops of the other references. With the last reference no other thread has
        // the state, so that drop needs no locked instruction.
        if (references_.load_acq() == 1 || references_.fetch_sub_acq_rel(1) == 1) destroy_(this);
    }
    // For a state that only the caller has.
    void begin_with_references(std::uint32_t count) noexcept {
        references_.store_rlx(count); // Orders nothing: no other thread knows the state.
    }

    // Pairs with publish_into.
    bool ready() const noexcept { return status_.load_acq() == is_ready; }

    // Call it once the state is ready. Returns null, or the exception that was stored instead of a
    // value.
    std::exception_ptr& error() noexcept { return outcome_.place_of_error(); }

    // Blocks until the state is ready, the deadline has come, or the surrounding scope is
    // cancelled.
    sched::wake_reason wait(std::int64_t deadline_ns, const char* what) noexcept;
    // Blocks without a deadline; throws `cancelled`.
    void wait_ready(const char* what);

    // A task fills this state: `filler` is its strand, and lives as long as the state. Before the
    // strand starts.
    void set_filler(sched::task_strand& filler) noexcept;
    // Called by a task that is about to wait. If a task fills this state, has not begun, and is the
    // newest of the worker's new tasks, runs that task on the caller's stack until it suspends.
    void run_filler_if_newest() noexcept;
    // For tasks. The first returns true if the state is ready; otherwise it leaves the lock held
    // for `suspend`, which is the last action of await_suspend. The third ends that wait.
    bool ready_or_lock() noexcept;
    std::coroutine_handle<> suspend(std::coroutine_handle<> at, std::int64_t deadline_ns);
    sched::wake_reason end_suspension() noexcept;

    // For waits on several sources. add_waiter returns false, and adds nothing, if the state is
    // ready. An entry that was added must be removed before it dies, however its wait ended.
    bool add_waiter(sched::wait_entry& entry) noexcept;
    void remove_waiter(sched::wait_entry& entry) noexcept;

    // Attaches a continuation. If the state is ready, it acts immediately.
    void attach(continuation& what) noexcept;
    // Returns true if the continuation was attached and will not act; false if it was not attached,
    // or acts.
    bool detach(continuation& what) noexcept;

    // Called by the setter: takes the right to store, once. The setter then calls publish or undo.
    bool try_begin() noexcept;
    void begin(); // throws std::future_error: promise_already_satisfied
    void undo() noexcept;
    void publish() noexcept;
    void publish_into(continuation_queue& due) noexcept; // leaves the continuations to the caller
    void publish_error(std::exception_ptr error) noexcept;

    // Called when the setter goes away: stores a broken_promise error for the futures, unless the
    // state is ready.
    void abandon() noexcept;

protected:
    ~future_state() = default;
    // The error, as the place of the result of a task without a value.
    task_result<void>& outcome() noexcept { return outcome_; }

private:
    static constexpr std::uint32_t is_empty = 0, is_setting = 1, is_ready = 2;

    const destroyer destroy_;
    base::atomic<std::uint32_t> references_{1};
    base::atomic<std::uint32_t> status_{is_empty};
    base::spin_lock lock_;           // guards the two lists below, and the step to ready
    std::int32_t filler_offset_ = 0; // in bytes from this object; 0: no task fills it
    sched::wait_list waiters_;
    continuation_list continuations_;
    task_result<void> outcome_; // belongs to the setter until the state is ready
};

[[noreturn]] void throw_future_error(std::future_errc code);

} // namespace sennit::detail
