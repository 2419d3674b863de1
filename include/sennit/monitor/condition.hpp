// SPDX-License-Identifier: Apache-2.0
// condition: a queue of tasks that wait inside monitors until a signal says that their condition
// holds.
//
// A condition is bound to one or several monitors when it is created. `wait` leaves exactly these
// monitors, however often they were entered, and is inside all of them again when it returns. The
// caller stays inside other monitors meanwhile; on return it enters its own monitors out of the
// global order, like a nested scope.
//
// A signalled waiter continues before any task can enter. When the signaller leaves (or waits), it
// passes each monitor to the waiter, which runs when it has the last one. The state that the
// signaller established therefore still holds, if the signaller does not change it before it
// leaves: wait with `if`. Calls that the signaller accepts by `waitfor` before it leaves come
// first. A signaller that accepts in a loop and never leaves must use `signal_block` to let the
// waiter continue.
//
// All members must be called inside all monitors of the condition, which is checked. Included by
// sennit/monitor.hpp.
#pragma once

#include "sennit/detail/core/deadline.hpp"
#include "sennit/detail/core/task_forward.hpp"
#include "sennit/monitor/core.hpp"

#include <chrono>
#include <concepts>
#include <cstdint>

namespace sennit {

class condition {
public:
    template <std::derived_from<monitor>... M>
        requires(sizeof...(M) > 0 && sizeof...(M) <= detail::max_monitors)
    explicit condition(M&... monitors) noexcept : of_(monitors...) {}
    ~condition();
    condition(const condition&) = delete;
    condition& operator=(const condition&) = delete;

    // Blocks until a signal. `data` is the value that `front` reports for this waiter. Throws
    // `cancelled`.
    void wait(std::uintptr_t data = 0) { (void)wait_until_ns(sched::never, data); }
    // Blocks until a signal, at most for `duration`. Returns false if no signal came. Throws
    // `cancelled`.
    template <class Rep, class Period>
    bool wait_for(const std::chrono::duration<Rep, Period>& duration, std::uintptr_t data = 0) {
        return wait_until_ns(sched::deadline_in(duration), data);
    }
    // Blocks like wait_for, for the time that is left by that clock now; later changes of the clock
    // have no effect.
    template <class Clock, class Duration>
    bool wait_until(const std::chrono::time_point<Clock, Duration>& when, std::uintptr_t data = 0) {
        return wait_until_ns(sched::deadline_of(when), data);
    }

    // Releases the longest waiter, which continues when the caller has left. Returns false if there
    // is no waiter. Does not block.
    bool signal();
    // Releases all waiters, which continue in the order of their arrival. Does not block.
    void signal_all();
    // Releases the longest waiter, which continues now. Blocks until that waiter has left or waits;
    // then the caller continues before all other tasks. Returns false if there is no waiter. Not a
    // point of cancellation.
    bool signal_block();

    // The waits of tasks, which hold no stack meanwhile: sennit/monitor/async_wait.hpp. The
    // condition must outlive the await. Each throws like its blocking form; std::bad_alloc comes
    // before the task has left a monitor or released a waiter.
    task<void> async_wait(std::uintptr_t data = 0);
    template <class Rep, class Period>
    task<bool> async_wait_for(const std::chrono::duration<Rep, Period>& duration,
                              std::uintptr_t data = 0);
    template <class Clock, class Duration>
    task<bool> async_wait_until(const std::chrono::time_point<Clock, Duration>& when,
                                std::uintptr_t data = 0);
    task<bool> async_signal_block();

    // Returns true if there is no waiter. A waiter whose wait has ended by its deadline or by
    // cancellation does not count. If some waits have limits, that may happen at any moment; the
    // result of `signal` is reliable.
    bool empty() const;
    // Returns the `data` of the longest waiter. There must be a waiter.
    std::uintptr_t front() const;

private:
    struct waiting;
    bool wait_until_ns(std::int64_t deadline_ns, std::uintptr_t data);
    task<bool> async_wait_until_ns(std::int64_t deadline_ns, std::uintptr_t data);
    void check_inside(std::uintptr_t me, const char* what) const;
    waiting* take() noexcept;
    waiting* oldest() const noexcept;
    void queue_urgent(waiting& to) noexcept;
    void leave_and_wait(detail::entrant& self, sched::strand& own) noexcept;

    const detail::monitor_set of_;
    base::intrusive_queue<waiting> all_; // guarded by the monitors
};

} // namespace sennit
