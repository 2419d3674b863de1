// SPDX-License-Identifier: Apache-2.0
// How a monitor goes from its owner to who is next; inline for those who hand over all the time.
#pragma once

#include "sennit/base/company.hpp"
#include "sennit/monitor/core.hpp"

#include <mutex>

namespace sennit {

// The owner, or who acts for it, makes `next` the owner, which cannot run, and so not destroy anything, before it is
// told. Whoever enters meanwhile and sees the old owner must not overwrite this: it comes by a compare-and-swap.
[[gnu::always_inline]] inline void monitor::pass_to(identity next) noexcept {
    // Orders nothing: who tells `next` does.
    word_.store_rlx(next | attention);
}

// The owner goes, and somebody may be waiting. Null: nobody is.
[[gnu::always_inline]] inline detail::claimant* monitor::pass_on() noexcept {
    if (detail::turn* next = urgent_.pop_front()) {
        pass_to(next->whose->identity);
        return next->whose;
    }
    std::lock_guard guard(lock_);
    detail::turn* next = waiting_.pop_front();
    taken_.store_rlx(next ? 1 : 0); // a hint
    if (!next) {
        word_.store_rel(0); // pairs with enter_now
        return nullptr;
    }
    pass_to(next->whose->identity);
    return next->whose;
}

[[gnu::always_inline]] inline detail::claimant* monitor::leave_to_next(identity me) noexcept {
    identity seen = me;
    const bool alone = urgent_.empty() && word_.load_rlx() == me; // a hint: a CAS in vain costs as much
    return alone && base::elidable(word_).cas_rel(seen, 0) ? nullptr : pass_on(); // pairs with enter_now
}

[[gnu::always_inline]] inline void monitor::give_place_to(detail::turn& later, identity next) noexcept {
    urgent_.push_front(later);
    pass_to(next);
}

} // namespace sennit
