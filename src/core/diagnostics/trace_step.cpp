// SPDX-License-Identifier: Apache-2.0
#include "sennit/detail/core/trace_step.hpp"

#include "core/diagnostics/tracing.hpp"

namespace sennit::sched {

bool traces_steps() noexcept {
    return tracing::on();
}

void trace_step(const char* name) noexcept {
    tracing::emit(trace_kind::steps, current_strand(), name);
}

} // namespace sennit::sched
