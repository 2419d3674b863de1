// SPDX-License-Identifier: Apache-2.0
// async_enter: enter for tasks, for one monitor.
//
//     sennit::task<> put(buffer& to, int value) {
//         auto in = co_await sennit::async_enter<&buffer::put>(to);  // until the end of the block
//         if (to.values.size() == most) to.not_full.wait();         // takes a stack while it waits
//         to.values.push_back(value);
//     }
//
// Use it where many tasks wait to enter a monitor: a waiting task holds no stack. The scope belongs
// to the task, and to the tasks that it awaits, which may enter again. A task may suspend inside;
// the monitor stays its own meanwhile. The guarantees are those of enter: entering tasks, fibers
// and threads come in the order of arrival, and the wait is no point of cancellation. waitfor
// accepts `async_enter<Member>` like `enter<Member>`.
// condition::wait, waitfor, and enter for several monitors have no awaitable form. They are legal
// in a task, which then takes a stack until they return.
// Cost without contention: that of enter.
#pragma once

#include "sennit/detail/base/refused.hpp"
#include "sennit/detail/core/awaitable.hpp"
#include "sennit/monitor.hpp"

#include <concepts>
#include <coroutine>
#include <cstdint>
#include <optional>

namespace sennit {

namespace detail {

class enter_awaiter : public sched::awaitable {
public:
    enter_awaiter(monitor& wanted, member_key member) noexcept : wanted_(wanted), member_(member) {}
    // A move before the await, whose results do not exist yet.
    enter_awaiter(enter_awaiter&& unused) noexcept
        : wanted_(unused.wanted_), member_(unused.member_) {}

    bool await_ready() noexcept {
        me_ = self_identity();
        return entrance::try_enter(wanted_, me_) || inside_already() ||
               monitor_ops::enter_or_lock(wanted_, me_);
    }
    bool await_suspend(std::coroutine_handle<> caller) noexcept;
    inside<1> await_resume() noexcept {
        if (waits_) (void)sched::task_wait::end();
        return entrance::entered(wanted_, me_, !again_);
    }

private:
    bool inside_already() noexcept { return again_ = monitor_ops::owned(wanted_, me_); }

    monitor& wanted_;
    const member_key member_;
    std::uintptr_t me_ = 0;
    bool again_ = false; // The task was inside before.
    bool waits_ = false;
    // The place in the entry queue, once the task has to wait.
    std::optional<entrant> mine_;
    queue_node place_;
    monitor_set set_;
};

} // namespace detail

// Returns an awaitable whose result is the scope. The await suspends the task until it is inside
// the monitor. Does not throw.
template <std::derived_from<monitor> M>
detail::enter_awaiter async_enter(M& one) noexcept {
    return {detail::as_monitor(one), nullptr};
}
// Enters the monitor as a call of `Member`, which waitfor may accept.
template <auto Member, std::derived_from<monitor> M>
detail::enter_awaiter async_enter(M& one) noexcept {
    static_assert(detail::is_call_on<decltype(Member), M>,
                  "sennit: not a function of these monitors");
    return {detail::as_monitor(one), &detail::key_of_member<Member>};
}
// Explains a call that the other overloads refuse.
template <class... M>
base::refused_call async_enter(M&...) noexcept {
    static_assert(base::refused<M...>, "sennit: async_enter takes one object whose class derives "
                                       "from sennit::monitor; call enter for several");
    return {};
}

} // namespace sennit
