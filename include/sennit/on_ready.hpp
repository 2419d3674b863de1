// SPDX-License-Identifier: Apache-2.0
// on_ready: a case of select that happens when a future is ready.
//
//     sennit::future<page> wanted = sennit::async(load, address);
//     sennit::select(sennit::on_ready(wanted, [](sennit::future<page>& it) { show(it.get()); }),
//                    sennit::after(2s, [] { show_slow_sign(); }));
//
// Use it to wait for a future and other events. For several futures alone use `when_any` or
// `wait_first_success`.
//
// The case calls `function()` or `function(future)`. The future keeps its result, or error, until a
// task gets it. The case works for future and shared_future. Any number of them may be in any
// number of selects at the same time. The future must outlive the select, and in a `waituntil` no
// clause may consume a future that another clause names.
// Throws std::future_error, no_state, for a future that is not valid. Cost: the future's own lock,
// taken once.
#pragma once

#include "sennit/detail/base/refused.hpp"
#include "sennit/future.hpp"
#include "sennit/select.hpp"

#include <concepts>
#include <functional>
#include <utility>

namespace sennit {

namespace detail {

template <class Future, class F>
class ready_case final : public select_case {
public:
    ready_case(Future& awaited, F function)
        : future_(awaited), state_(future_access::state(awaited)), function_(std::move(function)) {}
    bool try_now(sched::wake_ups&) noexcept override { return state_.ready(); }
    bool enlist(sched::wait_entry& entry) noexcept override { return state_.add_waiter(entry); }
    void unlist(sched::wait_entry& entry) noexcept override { state_.remove_waiter(entry); }
    void happen() override {
        if constexpr (std::invocable<F&, Future&>)
            std::invoke(function_, future_);
        else
            std::invoke(function_);
    }

private:
    Future& future_;
    future_state& state_;
    F function_;
};

} // namespace detail

template <class T, class F>
    requires std::invocable<F&, future<T>&> || std::invocable<F&>
detail::ready_case<future<T>, F> on_ready(future<T>& awaited, F function) {
    return {awaited, std::move(function)};
}
template <class T, class F>
    requires std::invocable<F&, const shared_future<T>&> || std::invocable<F&>
detail::ready_case<const shared_future<T>, F> on_ready(const shared_future<T>& awaited,
                                                       F function) {
    return {awaited, std::move(function)};
}
// Explains a call that the overloads above refuse.
template <class T, class F>
base::refused_call on_ready(future<T>&, F) {
    static_assert(base::refused<F>,
                  "sennit: on_ready calls the function with the future, or without arguments");
    return {};
}
template <class T, class F>
base::refused_call on_ready(const shared_future<T>&, F) {
    static_assert(base::refused<F>,
                  "sennit: on_ready calls the function with the future, or without arguments");
    return {};
}
template <class Future, class F>
base::refused_call on_ready(const Future&, F) {
    static_assert(base::refused<Future>,
                  "sennit: on_ready takes a variable of type sennit::future or "
                  "sennit::shared_future, which lives until the wait has ended");
    return {};
}

} // namespace sennit
