// SPDX-License-Identifier: Apache-2.0
#include "sennit/async_sleep.hpp"

#include "sennit/cancelled.hpp"

namespace sennit::detail {

std::coroutine_handle<> sleep_awaiter::await_suspend(std::coroutine_handle<> caller) {
    sched::task_wait::reserve_limit(deadline_ns_);
    return sched::task_wait::begin(caller, sched::task_wait::fresh_point(false), nullptr, nullptr,
                                   {.deadline_ns = deadline_ns_, .what = "sleep"});
}

void sleep_awaiter::await_resume() const {
    if (sched::task_wait::end() == sched::wake_reason::cancelled) throw cancelled();
}

} // namespace sennit::detail
