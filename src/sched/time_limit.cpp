// SPDX-License-Identifier: Apache-2.0
#include "sennit/sched/time_limit.hpp"

#include "sennit/sched/wait.hpp"

namespace sennit::sched {

time_limit::time_limit(std::int64_t deadline_ns) noexcept : scope_(current_scope(), deadline_ns) {
    if (!current_activity()) exchange_activity(&thread_activity_);
    current_activity()->scope = &scope_;
}

time_limit::~time_limit() {
    current_activity()->scope = scope_.parent();
    if (current_activity() == &thread_activity_) exchange_activity(nullptr);
}

} // namespace sennit::sched
