// SPDX-License-Identifier: Apache-2.0
// on_ready: a case of select that happens when a future is ready.
//
//     sennit::future<page> wanted = sennit::async(load, address);
//     sennit::select(sennit::on_ready(wanted, [](sennit::future<page>& it) { show(it.get()); }),
//                    sennit::after(2s, [] { show_slow_sign(); }));
//
// `function()` or `function(future)`; the future keeps its result, or error, until somebody gets
// it. Works for future and shared_future, any number of them in any number of selects at once. The
// future must outlive the select, and in a `waituntil` no clause may consume one that another
// clause names. Throws std::future_error, no_state, for one that is not valid. Cost: one lock of
// the future's own.
#pragma once

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

} // namespace sennit
