// SPDX-License-Identifier: Apache-2.0
// The functions that pass a monitor from its owner to the next task. They are inline, for callers
// that hand monitors over very often.
#pragma once

#include "sennit/detail/sys/single_threaded.hpp"
#include "sennit/monitor/core.hpp"

#include <mutex>

namespace sennit {

// Called by the owner, or by a task that acts for it. Makes `next` the owner. `next` cannot run,
// and so cannot destroy the monitor, before it is woken. A task that enters meanwhile and has read
// the old owner does not overwrite this store: it uses a compare-and-swap.
[[gnu::always_inline]] inline void monitor::set_next_owner(identity next) noexcept {
    // Orders nothing: the wake-up of `next` does.
    word_.store_rlx(next | has_waiters);
}

// Called when the owner leaves and a task may be waiting. Returns the next owner; null: there is
// none.
[[gnu::always_inline]] inline detail::entrant* monitor::transfer_to_next() noexcept {
    if (detail::queue_node* next = urgent_.pop_front()) {
        set_next_owner(next->whose->identity);
        return next->whose;
    }
    std::lock_guard guard(lock_);
    detail::queue_node* next = waiting_.pop_front();
    taken_.store_rlx(next ? 1 : 0); // a hint
    if (!next) {
        word_.store_rel(0); // pairs with enter_now
        return nullptr;
    }
    set_next_owner(next->whose->identity);
    return next->whose;
}

[[gnu::always_inline]] inline detail::entrant* monitor::leave_and_transfer(identity me) noexcept {
    identity seen = me;
    // a hint: a failing CAS is as expensive as a successful one
    const bool alone = urgent_.empty() && word_.load_rlx() == me;
    // Pairs with enter_now.
    return alone && base::elidable(word_).cas_rel(seen, 0) ? nullptr : transfer_to_next();
}

[[gnu::always_inline]] inline void monitor::push_urgent_behind(detail::queue_node& later,
                                                               identity next) noexcept {
    urgent_.push_front(later);
    set_next_owner(next);
}

} // namespace sennit
