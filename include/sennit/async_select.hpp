// SPDX-License-Identifier: Apache-2.0
// async_select: a task waits for the first of several events, with the cases of select.
//
//     co_await sennit::async_select(
//         sennit::on_pop(requests, [&](request r) { handle(std::move(r)); }),
//         sennit::after(10ms, [&] { ++idle_ticks; }));
//
// It has the meaning of select: exactly one case happens, the choice between ready cases is random,
// and the await returns the number of the case. The cases are moved into the task that async_select
// returns. The function of a case is a plain function, which runs after the wait; to await in
// answer to a case, use the number that the await returns. Cancellation and exceptions are those of
// select; std::bad_alloc if there is no memory for the frame.
#pragma once

#include "sennit/detail/base/coroutine_templates.hpp"
#include "sennit/detail/core/awaitable.hpp"
#include "sennit/select.hpp"
#include "sennit/task/task.hpp"

#include <array>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <span>

SENNIT_COROUTINE_TEMPLATES_BEGIN

namespace sennit {

namespace detail {

// The awaits of one select. The functions of the cases are not called.
class select_wait : public sched::awaitable {
public:
    // `fallback`: the number of the default case, or selection::none.
    select_wait(selection& steps, std::size_t fallback) noexcept
        : steps_(steps), which_(fallback) {}
    // Returns true if a case has happened. Otherwise the locks stay held.
    bool await_ready() noexcept;
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept;
    std::size_t await_resume(); // Throws cancelled.

private:
    selection& steps_;
    std::size_t which_;
    bool waits_ = false;
};

// Makes the timer for the cases that have a deadline. Throws std::bad_alloc.
void reserve_timer(std::span<select_case* const> cases);

} // namespace detail

// Waits until one case has happened, and returns its number. With `otherwise` it does not wait.
// Takes at most 64 cases.
template <std::derived_from<detail::select_case>... Cases>
task<std::size_t> async_select(Cases... cases) {
    static_assert(sizeof...(Cases) > 0 && sizeof...(Cases) <= detail::max_select_cases,
                  "sennit: async_select takes from 1 to 64 cases");
    const std::array<detail::select_case*, sizeof...(Cases)> all{&cases...};
    const std::size_t fallback = detail::default_of(all);
    detail::reserve_timer(all);
    for (;;) {
        detail::selection_of<sizeof...(Cases)> steps(all);
        const std::size_t which = co_await detail::select_wait(steps, fallback);
        if (all[which]->asks_system && all[which]->must_repeat()) continue;
        all[which]->happen();
        co_return which;
    }
}

} // namespace sennit

SENNIT_COROUTINE_TEMPLATES_END
