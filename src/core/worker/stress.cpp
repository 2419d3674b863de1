// SPDX-License-Identifier: Apache-2.0
// Events that stress builds (SENNIT_STRESS) cause more often than chance would: publication, loss
// of the processor, forced publication.
#include "core/worker/worker.hpp"

#ifdef SENNIT_STRESS

namespace sennit::sched {

bool stress_now() noexcept {
    worker* me = this_worker();
    return me && me->stress_one_in(4);
}

} // namespace sennit::sched

#endif
