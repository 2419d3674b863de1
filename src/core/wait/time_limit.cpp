// SPDX-License-Identifier: Apache-2.0
#include "sennit/detail/core/time_limit.hpp"

#include "sennit/detail/core/wait.hpp"

namespace sennit::sched {

time_limit::time_limit(std::int64_t deadline_ns) noexcept
    : deadline_ns_(deadline_ns), scope_(current_scope(), deadline_ns), inside_(scope_) {}

} // namespace sennit::sched
