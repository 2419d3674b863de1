// SPDX-License-Identifier: Apache-2.0
#include "sennit/async_select.hpp"

#include <algorithm>
#include <cstdint>

namespace sennit::detail {

bool select_wait::await_ready() noexcept {
    sched::wake_ups woken;
    steps_.lock();
    const std::size_t ready = steps_.try_now(woken);
    if (ready != selection::none) which_ = ready;
    if (which_ == selection::none) return false;
    steps_.unlock();
    return true;
}

std::coroutine_handle<> select_wait::await_suspend(std::coroutine_handle<> caller) noexcept {
    waits_ = true;
    const std::int64_t deadline = steps_.enlist();
    return sched::task_wait::begin(caller, steps_.point(), &selection::publish, &steps_,
                                   {.deadline_ns = deadline, .what = "select"});
}

std::size_t select_wait::await_resume() {
    return waits_ ? steps_.leave(sched::task_wait::end(steps_.point())) : which_;
}

void reserve_timer(std::span<select_case* const> cases) {
    std::int64_t first = sched::never;
    for (const select_case* one : cases)
        if (one->enabled) first = std::min(first, one->deadline_ns());
    sched::task_wait::reserve_limit(first);
}

} // namespace sennit::detail
