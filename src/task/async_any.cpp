// SPDX-License-Identifier: Apache-2.0
#include "sennit/async_any.hpp"

#include "sennit/cancelled.hpp"

#include <algorithm>

namespace sennit::detail {

// A child that the group's scope has cut short is no winner. It may have been cut short by the
// scope around the group; then there may be no winner at all.
void race_outcome::child_ended(task_group& group, std::size_t index, bool failed,
                               bool cut_short) noexcept {
    if (cut_short || (failed && rule_ == win_by::success)) return;
    std::size_t none = no_winner;
    // Orders nothing: the child's decrement of the group's count publishes its result.
    if (winner_.cas_rlx(none, index)) group.scope().cancel();
}

void throw_lost_race(std::vector<std::exception_ptr> errors) {
    if (std::any_of(errors.begin(), errors.end(),
                    [](const std::exception_ptr& one) { return is_cancelled(one); }))
        throw cancelled();
    throw exception_list(std::move(errors));
}

} // namespace sennit::detail
