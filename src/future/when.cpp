// SPDX-License-Identifier: Apache-2.0
#include "sennit/when/detail/gather.hpp"

namespace sennit::detail {

void gathering::start(std::size_t* winner) noexcept {
    stored_winner_ = winner;
    // `due` stays empty if this function completes the result, because no caller has the future
    // yet.
    continuation_queue due;
    if (count_ == 0) step(due);
    for (std::size_t i = 0; i < count_; ++i) {
        if (winner_.load_rlx() != nobody) break; // only a hint, which saves work
        result_.add_reference();
        nodes_[i].source->attach(nodes_[i]);
    }
    step(due);
}

void gathering::source_ready(continuation& self, continuation_queue& due) noexcept {
    auto& me = static_cast<node&>(self);
    gathering& whole = *me.whole;
    if (whole.decides(me)) whole.step(due);
    whole.result_.drop_reference();
}

bool gathering::decides(const node& which) noexcept {
    const bool alone = decisive_ == decisive::any ||
                       (decisive_ == decisive::value && !which.failed) ||
                       (decisive_ == decisive::error && which.failed);
    if (!alone) return left_.fetch_sub_acq_rel(1) == 1; // pairs with the other sources' steps
    std::size_t seen = nobody;
    // The winner's step publishes the number.
    return winner_.cas_rlx(seen, static_cast<std::size_t>(&which - nodes_.get()));
}

void gathering::step(continuation_queue& due) noexcept {
    if (steps_.fetch_sub_acq_rel(1) != 1) return; // pairs with the other step
    // The fetch_sub of this function pairs with the other step.
    if (stored_winner_) *stored_winner_ = winner_.load_rlx();
    if (decisive_ != decisive::none)
        for (std::size_t i = 0; i < count_; ++i)
            if (nodes_[i].source->detach(nodes_[i])) result_.drop_reference();
    result_.publish_into(due);
}

} // namespace sennit::detail
