// SPDX-License-Identifier: Apache-2.0
#include "sennit/task/group.hpp"

namespace sennit::detail {

bool task_group::suspend(std::coroutine_handle<> caller) noexcept {
    waiter_ =
        &sched::task_wait::begin_counted(caller, {.cancellable = false, .what = "task group"});
    // Pairs with end_child. After it a child may continue the task, so the group may be gone.
    return unfinished_.fetch_sub_acq_rel(1) != 1;
}

} // namespace sennit::detail
