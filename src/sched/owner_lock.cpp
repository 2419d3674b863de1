// SPDX-License-Identifier: Apache-2.0
#include "sched/owner_lock.hpp"

#include "sched/tuning.hpp"

namespace sennit::sched {

void owner_lock::enter_slowly() noexcept {
    for (unsigned round = 0;; ++round) {
        busy_.store(1);
        if ((claim_.load() & claimed) == 0)
            return;         // pairs with release; sequentially consistent for processes without membarrier
        busy_.store_rel(0); // pairs with claim's last load
        while ((claim_.load_rlx() & claimed) != 0)
            base::spin_pause(round++); // a hint: the look above decides, and acquires
    }
}

owner_lock::answer owner_lock::claim() noexcept {
    if (!others_.try_lock()) return {};
    claim_.store(free_claim() | claimed);
    const bool passed = fenced_ || sys::barrier_all_threads();
    for (unsigned round = 0; passed && round < tuning::looks_for_an_owner; ++round) {
        if (busy_.load() == 0) return {.let_in = true}; // the owner's last section is over, its next one waits
        base::spin_pause(round);
    }
    release();
    return {.refused = !passed};
}

void owner_lock::release() noexcept {
    claim_.store_rel(free_claim()); // pairs with enter
    others_.unlock();
}

} // namespace sennit::sched
