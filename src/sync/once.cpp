// SPDX-License-Identifier: Apache-2.0
#include "sennit/once.hpp"

#include <mutex>

namespace sennit {

bool once_flag::try_begin() noexcept {
    std::lock_guard guard(lock_);
    // The state changes under the lock only.
    if (state_.load_rlx() != fresh) return false;
    state_.store_rlx(running); // The lock orders it.
    return true;
}

bool once_flag::begin() noexcept {
    for (;;) {
        lock_.lock();
        const std::uint32_t state = state_.load_rlx(); // written under the lock
        if (state != running) {
            if (state == fresh) state_.store_rlx(running); // written under the lock
            lock_.unlock();
            return state == fresh;
        }
        (void)sched::block(waiters_, lock_,
                           {.cancellable = false, .what = "call_once", .on = this});
    }
}

void once_flag::end(std::uint32_t how) noexcept {
    sched::wake_ups woken;
    std::lock_guard guard(lock_);
    state_.store_rel(how); // pairs with is_done
    woken.take_all(waiters_);
}

} // namespace sennit
