// SPDX-License-Identifier: Apache-2.0
// The waits of tasks inside monitors: condition::async_wait, async_wait_for, async_wait_until and
// async_signal_block, and async_waitfor.
//
//     sennit::task<> buffer::put(int value) {
//         auto in = co_await sennit::async_enter<&buffer::put>(*this);
//         if (values.size() == most) co_await not_full.async_wait();
//         values.push_back(value);
//         not_empty.signal();
//     }
//
// Use them where many tasks wait inside monitors: a task that waits holds its frames and no stack.
// For a few tasks the blocking forms, which are legal in a task, are as good. Tasks, fibers and
// threads wait in one order of arrival, and may signal each other. The guarantees, the limits and
// the points of cancellation are those of the blocking forms. Cost: a frame of some 500 bytes for
// each wait; a wait with a limit that ends without a signal makes a second one.
#pragma once

#include "sennit/detail/base/coroutine_templates.hpp"
#include "sennit/detail/base/refused.hpp"
#include "sennit/detail/core/deadline.hpp"
#include "sennit/monitor.hpp"
#include "sennit/task.hpp"

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

SENNIT_COROUTINE_TEMPLATES_BEGIN

namespace sennit {

namespace detail {

task<std::size_t> async_run_waitfor(std::span<const accept_clause* const> clauses);

template <class... Clauses>
task<std::size_t> async_waitfor_clauses(Clauses... clauses) {
    const std::array<const accept_clause*, sizeof...(Clauses)> all{&clauses...};
    const std::size_t chosen = co_await async_run_waitfor(all);
    std::size_t i = 0;
    ((chosen == i++ ? void(clauses.function()) : void(0)), ...);
    co_return chosen;
}

} // namespace detail

template <class Rep, class Period>
task<bool> condition::async_wait_for(const std::chrono::duration<Rep, Period>& duration,
                                     std::uintptr_t data) {
    return async_wait_until_ns(sched::deadline_in(duration), data);
}
template <class Clock, class Duration>
task<bool> condition::async_wait_until(const std::chrono::time_point<Clock, Duration>& when,
                                       std::uintptr_t data) {
    return async_wait_until_ns(sched::deadline_of(when), data);
}

// Lets a call that the clauses accept run before the caller continues, as waitfor does. The time of
// a `timeout` counts from its creation. Returns the number of the clause, or `no_clause`. Throws
// `cancelled`, std::bad_alloc, and the exceptions of the clause's function.
template <class... Clauses>
    requires(std::derived_from<std::remove_cvref_t<Clauses>, detail::accept_clause> && ...)
task<std::size_t> async_waitfor(Clauses&&... clauses) {
    static_assert((!detail::is_task<std::remove_cvref_t<decltype(clauses.function())>> && ...),
                  "sennit: the function of a clause is a plain function; await behind the "
                  "async_waitfor, by the number of the clause that it returns");
    return detail::async_waitfor_clauses<std::remove_cvref_t<Clauses>...>(
        std::forward<Clauses>(clauses)...);
}
// Explains a call that the other overload refuses.
template <class... Clauses>
base::refused_call async_waitfor(Clauses&&...) {
    static_assert(base::refused<Clauses...>,
                  "sennit: async_waitfor takes clauses: accept<&T::member>(object), "
                  "accept_destructor(object), timeout(duration) and or_else()");
    return {};
}

} // namespace sennit

SENNIT_COROUTINE_TEMPLATES_END
