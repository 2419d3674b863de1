// SPDX-License-Identifier: Apache-2.0
// async_call_once: call_once for tasks.
//
//     sennit::once_flag loaded;
//     co_await sennit::async_call_once(loaded, load_table);      // a function, or a coroutine
//
// The function may return a task, which is awaited; the flag is done when that task has returned.
// A call that throws does not count: its exception leaves the await, and another caller runs its
// function. Fibers and threads that block in call_once, and tasks, may meet at one flag. The wait
// is not a point of cancellation, but the function may be cancelled, which counts as an exception.
// Cost: a frame, also when the flag is done.
#pragma once

#include "sennit/detail/base/coroutine_templates.hpp"
#include "sennit/detail/core/list_awaiter.hpp"
#include "sennit/once.hpp"
#include "sennit/task/task.hpp"

#include <coroutine>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

SENNIT_COROUTINE_TEMPLATES_BEGIN

namespace sennit {

namespace detail {

// The wait of a task until the running call of a flag has ended.
class once_turn {
public:
    explicit once_turn(once_flag& flag) noexcept : flag_(&flag) {}
    bool ready_or_lock() const noexcept;
    std::coroutine_handle<> suspend(std::coroutine_handle<> at, std::int64_t deadline_ns) const;
    bool end_suspension() const noexcept;

    // True if the flag is done.
    bool done() const noexcept { return flag_->is_done(); }
    // True if the caller must run the function.
    bool try_begin() const noexcept { return flag_->try_begin(); }

    // The end of a call: the flag is done if `returned`, and otherwise as it was before.
    class ending {
    public:
        explicit ending(const once_turn& of) noexcept : flag_(*of.flag_) {}
        ~ending() { flag_.end(returned ? once_flag::done : once_flag::fresh); }
        ending(const ending&) = delete;
        bool returned = false;

    private:
        once_flag& flag_;
    };

private:
    once_flag* flag_;
};

} // namespace detail

// Calls `function(arguments...)`, or awaits the task that it returns, unless a call for this flag
// has returned. Waits while another call for the flag runs. The copies of the function and of the
// arguments live until the await ends. Throws the exception of the function.
template <class F, class... A>
task<void> async_call_once(once_flag& flag, F function, A... arguments) {
    static_assert(std::is_invocable_v<F, A...>,
                  "sennit: async_call_once calls the function with the arguments, and the function "
                  "does not take these");
    const detail::once_turn turn(flag);
    while (!turn.done()) {
        if (!turn.try_begin()) {
            co_await sched::list_awaiter(turn);
            continue;
        }
        detail::once_turn::ending call(turn);
        if constexpr (detail::returns_task<F, A...>)
            co_await std::invoke(std::move(function), std::move(arguments)...);
        else
            std::invoke(std::move(function), std::move(arguments)...);
        call.returned = true;
        co_return;
    }
}

} // namespace sennit

SENNIT_COROUTINE_TEMPLATES_END
