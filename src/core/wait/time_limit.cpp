// SPDX-License-Identifier: Apache-2.0
#include "sennit/detail/core/time_limit.hpp"

#include "sennit/detail/core/wait.hpp"

namespace sennit::sched {

time_limit::time_limit(std::int64_t deadline_ns) noexcept
    : deadline_ns_(deadline_ns), scope_(current_scope(), deadline_ns) {
    this_strand().scope = &scope_;
}

time_limit::~time_limit() {
    this_strand().scope = scope_.parent();
}

} // namespace sennit::sched
