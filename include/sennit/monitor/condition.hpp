// SPDX-License-Identifier: Apache-2.0
// condition: waiting inside monitors, and being let go on by who makes true what was waited for.
//
// Bound to one monitor or several when it is made. `wait` leaves exactly these, however often they
// were entered, and has them all again when it returns; it stays inside others, and comes back out
// of order then, as a scope inside another one's enters. A signalled one goes on before anybody can
// enter: when the signaller leaves (or waits), each monitor passes to it, and it runs when it has
// the last. So what the signaller established still holds, if the signaller leaves it so: wait with
// `if`. Calls that the signaller accepts by `waitfor` before it leaves come first; who accepts in a
// loop and never leaves lets the other go on by `signal_block`. All members are called inside all
// monitors of the condition, which is checked. Included by sennit/monitor.hpp.
#pragma once

#include "sennit/detail/core/deadline.hpp"
#include "sennit/monitor/core.hpp"

#include <chrono>
#include <concepts>
#include <cstdint>

namespace sennit {

class condition {
public:
    template <std::derived_from<monitor>... M>
        requires(sizeof...(M) > 0 && sizeof...(M) <= detail::most_monitors)
    explicit condition(M&... monitors) noexcept : of_(monitors...) {}
    ~condition();
    condition(const condition&) = delete;
    condition& operator=(const condition&) = delete;

    // Blocks until it is signalled. `data` is what `front` tells of it. Throws `cancelled`.
    void wait(std::uintptr_t data = 0) { (void)wait_until_ns(sched::never, data); }
    // The same at most so long; false: it was not signalled.
    template <class Rep, class Period>
    bool wait_for(const std::chrono::duration<Rep, Period>& duration, std::uintptr_t data = 0) {
        return wait_until_ns(sched::deadline_in(duration), data);
    }
    // As long as is left by that clock now, whatever it does meanwhile.
    template <class Clock, class Duration>
    bool wait_until(const std::chrono::time_point<Clock, Duration>& when, std::uintptr_t data = 0) {
        return wait_until_ns(sched::deadline_of(when), data);
    }

    // The one that waits longest goes on when the caller has left. False: nobody waits.
    bool signal();
    // All of them, in the order in which they came.
    void signal_all();
    // The one that waits longest goes on now; the caller goes on, before all others, when that has
    // left or waits. False: nobody waits. No point of cancellation.
    bool signal_block();

    // Whose wait has ended by its time or by cancellation does not count. But where some waits have
    // limits, that may happen at any moment: what `signal` returns is sure.
    bool empty() const;
    // What the one that waits longest gave to `wait`. Somebody must wait.
    std::uintptr_t front() const;

private:
    struct waiting;
    bool wait_until_ns(std::int64_t deadline_ns, std::uintptr_t data);
    void check_inside(std::uintptr_t me, const char* what) const;
    waiting* take() noexcept;
    waiting* oldest() const noexcept;
    void queue_urgent(waiting& to) noexcept;
    void leave_and_wait(detail::entrant& self, sched::strand& own) noexcept;

    const detail::monitor_set of_;
    base::intrusive_queue<waiting> all_; // guarded by the monitors
};

} // namespace sennit
