// SPDX-License-Identifier: Apache-2.0
// What stress builds (SENNIT_STRESS) do more often than chance would: publish, lose the processor,
// force.
#include "core/worker/worker.hpp"

#ifdef SENNIT_STRESS

namespace sennit::sched {

bool stress_now() noexcept {
    worker* me = this_worker();
    return me && me->stress_one_in(4);
}

} // namespace sennit::sched

#endif
