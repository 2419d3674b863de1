// SPDX-License-Identifier: Apache-2.0
// How a monitor goes from its owner to who is next; inline for those who hand over all the time.
#pragma once

#include "sennit/detail/sys/single_threaded.hpp"
#include "sennit/monitor/core.hpp"

#include <mutex>

namespace sennit {

// The owner, or who acts for it, makes `next` the owner, which cannot run, and so not destroy
// anything, before it is told. Whoever enters meanwhile and sees the old owner must not overwrite
// this: it comes by a compare-and-swap.
[[gnu::always_inline]] inline void monitor::set_next_owner(identity next) noexcept {
    // Orders nothing: who tells `next` does.
    word_.store_rlx(next | has_waiters);
}

// The owner goes, and somebody may be waiting. Null: nobody is.
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
    const bool alone =
        urgent_.empty() && word_.load_rlx() == me; // a hint: a CAS in vain costs as much
    return alone && base::elidable(word_).cas_rel(seen, 0)
               ? nullptr
               : transfer_to_next(); // pairs with enter_now
}

[[gnu::always_inline]] inline void monitor::push_urgent_behind(detail::queue_node& later,
                                                               identity next) noexcept {
    urgent_.push_front(later);
    set_next_owner(next);
}

} // namespace sennit
