// SPDX-License-Identifier: Apache-2.0
// An operation on a record, as a task.
#pragma once

#include "io/runtime/io_call.hpp"
#include "sennit/block_on.hpp" // The class task.
#include "sennit/io/handle.hpp"

#include <cstddef>

namespace sennit::io::detail {

// `of` and the argument of `what` must live until the task has ended. Throws io::error in the name
// of `name`. `begun`: the operation is not the first step of its call.
task<std::ptrdiff_t> async_run(sched::io_record& on, sched::io_operation what, const char* name,
                               const handle& of, bool begun = false);

} // namespace sennit::io::detail
