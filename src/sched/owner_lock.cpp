// SPDX-License-Identifier: Apache-2.0
#include "sched/owner_lock.hpp"

#include "sched/tuning.hpp"
#include "sys/mutant.hpp"

namespace sennit::sched {

void owner_lock::enter_slowly() noexcept {
    for (unsigned round = 0;; ++round) {
        busy_.store(1);
        std::uint32_t seen = claim_.load();
        if ((seen & claimed) == 0) { // pairs with release and claim's exchange
            if (wary_sections_ != 0)
                --wary_sections_;
            else if (!fenced_ && !claim_.cas_rlx(seen, 0) && // orders nothing: who reads the 0 makes a barrier
                     SENNIT_MUTANT("a claim keeps the owner wary"))
                claim_.store(0);
            return;
        }
        busy_.store_rel(0); // pairs with claim's last load
        while ((claim_.load_rlx() & claimed) != 0)
            base::spin_pause(round++); // a hint: the look above decides, and acquires
    }
}

owner_lock::answer owner_lock::claim() noexcept {
    if (!others_.try_lock()) return {};
    if ((claim_.exchange(claimed | wary) & wary) == 0 && !sys::barrier_all_threads()) {
        claim_.store_rlx(0); // orders nothing: nobody was inside
        others_.unlock();
        return {.refused = true};
    }
    for (unsigned round = 0; round < tuning::looks_for_an_owner; ++round) {
        if (busy_.load() == 0) { // the owner's last section is over, its next one waits
            wary_sections_ = tuning::wary_sections;
            return {.let_in = true};
        }
        base::spin_pause(round);
    }
    release();
    return {};
}

void owner_lock::release() noexcept {
    claim_.store_rel(wary); // pairs with enter
    others_.unlock();
}

} // namespace sennit::sched
