// SPDX-License-Identifier: Apache-2.0
// What a promise and its futures share, apart from the value: whether it is ready, the error, who
// waits, and what goes on from there.
//
// State word: empty; setting: somebody has won the right to store the value or the error; ready.
// Protocol. Empty to setting by compare-and-swap, so a value is stored outside the lock, by user
// code that may block or throw; if it throws, the word goes back. Setting to ready under the lock,
// together with taking all waiters and continuations off their lists: who adds itself under the
// lock is either on a list then, or sees that it is ready. Waiters are woken and continuations run
// outside the lock; neither touches the state for the setter any more. A continuation never runs
// another one inside: what it makes ready it appends to its caller's queue, so chains of any length
// take no stack. Lifetime. Counted. The setter holds a reference of its own until it has published.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/intrusive_queue.hpp"
#include "sennit/detail/core/wait.hpp"
#include "sennit/detail/sys/spin_lock.hpp"

#include <cstdint>
#include <exception>
#include <future>

namespace sennit::detail {

struct continuation;
using continuation_queue = base::intrusive_queue<continuation>;

// What happens once a state is ready. `act` is called once, on the thread that made it ready, or
// that attached it too late; it must not block. The state may be gone by then, unless the
// continuation holds a reference.
struct continuation : base::list_node {
    using action = void (*)(continuation&, continuation_queue& due) noexcept;
    explicit continuation(action f) noexcept : act(f) {}
    action act;
    bool queued = false; // under the state's lock
    bool failed = false; // when `act` is called: the state holds an error
};

class future_state {
public:
    using destroyer = void (*)(future_state*) noexcept;
    explicit future_state(destroyer destroy) noexcept : destroy_(destroy) {}
    future_state(const future_state&) = delete;

    void add_reference() noexcept {
        references_.fetch_add_rlx(1);
    } // the caller has one, so this orders nothing
    void drop_reference() noexcept {
        if (references_.fetch_sub_acq_rel(1) == 1) destroy_(this); // pairs with the others' drops
    }

    bool ready() const noexcept { return status_.load_acq() == is_ready; } // pairs with publish

    // Once ready: null, or what was stored instead of a value.
    std::exception_ptr& error() noexcept { return error_; }

    // Blocks until ready, the deadline, or the end of the surrounding scope.
    sched::wake_reason wait(std::int64_t deadline_ns, const char* what) noexcept;
    // Without a deadline; throws `cancelled`.
    void wait_ready(const char* what);

    // For waits of many sources. False: it is ready, and nothing was added. Who was added is
    // removed before it dies, whatever ended its wait.
    bool add_waiter(sched::wait_entry& entry) noexcept;
    void remove_waiter(sched::wait_entry& entry) noexcept;

    // Acts at once if it is ready.
    void attach(continuation& what) noexcept;
    // True: it was attached and will not act. False: it was not, or it acts.
    bool detach(continuation& what) noexcept;

    // The setter's: the right to store, once. Then either publish or undo.
    bool try_begin() noexcept;
    void begin(); // throws std::future_error: promise_already_satisfied
    void undo() noexcept;
    void publish() noexcept;
    void publish_into(continuation_queue& due) noexcept; // continuations are left to the caller
    void publish_error(std::exception_ptr error) noexcept;

    // The setter goes away: broken_promise for whoever holds a future, unless the state is ready.
    void abandon() noexcept;

protected:
    ~future_state() = default;

private:
    static constexpr std::uint32_t is_empty = 0, is_setting = 1, is_ready = 2;

    const destroyer destroy_;
    base::atomic<std::uint32_t> references_{1};
    base::atomic<std::uint32_t> status_{is_empty};
    std::exception_ptr error_; // the setter's until ready
    base::spin_lock lock_;     // guards the two below, and the step to ready
    sched::wait_list waiters_;
    continuation_queue continuations_;
};

[[noreturn]] void throw_future_error(std::future_errc code);

} // namespace sennit::detail
