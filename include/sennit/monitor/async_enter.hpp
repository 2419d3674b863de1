// SPDX-License-Identifier: Apache-2.0
// async_enter: enter for tasks.
//
//     sennit::task<> put(buffer& to, int value) {
//         auto in = co_await sennit::async_enter<&buffer::put>(to);  // until the end of the block
//         if (to.values.size() == most) co_await to.not_full.async_wait();
//         to.values.push_back(value);
//     }
//
// Use it where many tasks wait to enter monitors: a waiting task holds no stack. The scope belongs
// to the task, and to the tasks that it awaits, which may enter again. A task may suspend inside;
// the monitor stays its own meanwhile. The guarantees are those of enter: entering tasks, fibers
// and threads come in the order of arrival, and the wait is no point of cancellation. waitfor
// accepts `async_enter<Member>` like `enter<Member>`.
// `async_enter(a, b, …)` enters several monitors, in the order that enter uses.
// Cost without contention: that of enter. A task that has to wait for one of several monitors makes
// a frame, and may throw std::bad_alloc; it is inside none of them then.
#pragma once

#include "sennit/detail/base/refused.hpp"
#include "sennit/detail/core/awaitable.hpp"
#include "sennit/detail/core/task_transfer.hpp"
#include "sennit/monitor.hpp"
#include "sennit/task.hpp"

#include <array>
#include <concepts>
#include <coroutine>
#include <cstddef>
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

// Enters several monitors. The frame that waits for them is made when one of them is taken.
template <std::size_t N>
class enter_all_awaiter : public sched::awaitable {
public:
    template <class... M>
    explicit enter_all_awaiter(member_key member, M*... all) noexcept
        : member_(member), all_{all...} {
        entrance::sort(all_);
    }
    // A move before the await, whose results do not exist yet.
    enter_all_awaiter(enter_all_awaiter&& unused) noexcept
        : member_(unused.member_), all_(unused.all_) {}

    bool await_ready() noexcept {
        me_ = self_identity();
        while (entered_ < N && entrance::try_enter_next(*all_[entered_], me_)) ++entered_;
        return entered_ == N;
    }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
        try {
            return sched::transfer(task_access::begin(
                monitor_ops::async_enter_from(all_.data(), N, entered_, me_, member_), rest_,
                caller));
        } catch (...) {
            if (entered_ != 0) monitor_ops::leave_from(all_.data(), entered_, bits(entered_), me_);
            throw;
        }
    }
    inside<N> await_resume() noexcept {
        const unsigned later = entered_ == N ? 0 : rest_.take();
        return entrance::entered<N>(all_, me_, bits(entered_) | later);
    }

private:
    static unsigned bits(std::size_t count) noexcept { return (1u << count) - 1; }

    const member_key member_;
    std::array<monitor*, N> all_;
    std::uintptr_t me_ = 0;
    std::size_t entered_ = 0; // The number of the first monitors that were free.
    task_result<unsigned> rest_;
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
// Enters all monitors.
template <std::derived_from<monitor>... M>
    requires(sizeof...(M) > 1 && sizeof...(M) <= detail::max_monitors)
detail::enter_all_awaiter<sizeof...(M)> async_enter(M&... monitors) noexcept {
    return detail::enter_all_awaiter<sizeof...(M)>(nullptr, &detail::as_monitor(monitors)...);
}
// Enters all monitors as a call of `Member`, which waitfor may accept.
template <auto Member, std::derived_from<monitor>... M>
    requires(sizeof...(M) > 1 && sizeof...(M) <= detail::max_monitors)
detail::enter_all_awaiter<sizeof...(M)> async_enter(M&... monitors) noexcept {
    static_assert(detail::is_call_on<decltype(Member), M...>,
                  "sennit: not a function of these monitors");
    return detail::enter_all_awaiter<sizeof...(M)>(&detail::key_of_member<Member>,
                                                   &detail::as_monitor(monitors)...);
}
// Explains a call that the other overloads refuse.
template <class... M>
base::refused_call async_enter(M&...) noexcept {
    static_assert(base::refused<M...>,
                  "sennit: async_enter takes from 1 to 8 objects whose classes "
                  "derive from sennit::monitor");
    return {};
}

} // namespace sennit
