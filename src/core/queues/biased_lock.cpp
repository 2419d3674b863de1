// SPDX-License-Identifier: Apache-2.0
#include "core/queues/biased_lock.hpp"

#include "core/policy/tuning.hpp"
#include "sys/mutant.hpp"

namespace sennit::sched {

void biased_lock::enter_slowly() noexcept {
    for (unsigned round = 0;; ++round) {
        busy_.store(1);
        std::uint32_t seen = remote_.load();
        if ((seen & locked_remotely) == 0) { // pairs with release and claim's exchange
            if (contended_sections_ != 0) --contended_sections_;
            // Orders nothing: a revoker that reads the 0 makes a barrier.
            else if (!always_contended_ && !remote_.cas_rlx(seen, 0) &&
                     SENNIT_MUTANT("a remote lock keeps the owner contended"))
                remote_.store(0);
            return;
        }
        busy_.store_rel(0); // pairs with claim's last load
        while ((remote_.load_rlx() & locked_remotely) != 0)
            base::spin_pause(round++); // A hint: the load above decides, and acquires.
    }
}

biased_lock::remote_lock_result biased_lock::try_lock_remote() noexcept {
    if (!others_.try_lock()) return {};
    if ((remote_.exchange(locked_remotely | contended) & contended) == 0 &&
        !sys::barrier_all_threads()) {
        remote_.store_rlx(0); // Orders nothing: no thread was inside.
        others_.unlock();
        return {.refused = true};
    }
    for (unsigned round = 0; round < tuning::owner_wait_rounds; ++round) {
        if (busy_.load() == 0) { // The owner's last section is over, and its next one waits.
            contended_sections_ = tuning::contended_sections;
            return {.acquired = true};
        }
        base::spin_pause(round);
    }
    unlock_remote();
    return {};
}

void biased_lock::unlock_remote() noexcept {
    remote_.store_rel(contended); // pairs with enter
    others_.unlock();
}

} // namespace sennit::sched
