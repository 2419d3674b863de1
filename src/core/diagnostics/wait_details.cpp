// SPDX-License-Identifier: Apache-2.0
#include "core/diagnostics/wait_details.hpp"

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/core/task_strand.hpp"
#include "sennit/detail/core/wait.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sennit::sched {

constinit std::array<base::atomic<holder_function>, 8> holder_functions{};

std::uint8_t find_number_of_holder(holder_function function) noexcept {
    for (std::size_t i = 0; i < holder_functions.size(); ++i) {
        // Orders nothing: only the value of the pointer matters.
        holder_function seen = holder_functions[i].load_rlx();
        if (!seen && holder_functions[i].cas_rlx(seen, function)) seen = function;
        if (seen == function) return static_cast<std::uint8_t>(i + 1);
    }
    return 0;
}

wait_details details_of(wait_record wait) noexcept {
    const task_strand* task = wait.task();
    if (!task) {
        const wait_options& given = *wait.options();
        return {given.what, given.on, given.deadline_ns, given.holder};
    }
    const task_point& point = task->point_;
    const task_cold_state* cold = task->origin_.cold();
    return {task->what_, task->on_, cold && point.limits != 0 ? cold->deadline_ns : never,
            point.holder != 0
                ? holder_functions[point.holder - 1u].load_rlx() // Orders nothing, see above.
                : nullptr};
}

} // namespace sennit::sched
