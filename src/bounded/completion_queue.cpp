// SPDX-License-Identifier: Apache-2.0
#include "sennit/bounded/detail/completion_queue.hpp"

#include "sennit/cancelled.hpp"
#include "sennit/detail/base/check.hpp"

#include <mutex>

namespace sennit::detail {

completion_queue::completion_queue(std::size_t limit) noexcept : limit_(limit) {
    SENNIT_CHECK(limit > 0, "[SNT-081] as_completed was called with a limit of 0, so that no item "
                            "could start; pass 1 or more");
}

completion_place* completion_queue::take() {
    for (;;) {
        lock_.lock();
        if (completion_place* place = free_.pop_front()) {
            lock_.unlock();
            return place;
        }
        if (made_ < limit_) {
            ++made_;
            lock_.unlock();
            return nullptr;
        }
        const auto why = sched::block(feeder_, lock_, {.what = "as_completed", .on = this});
        if (why == sched::wake_reason::cancelled) throw cancelled();
    }
}

void completion_queue::item_begins() noexcept {
    std::lock_guard guard(lock_);
    ++running_;
}

void completion_queue::input_ends() noexcept {
    sched::wake_ups woken;
    std::lock_guard guard(lock_);
    input_ended_ = true;
    if (running_ == 0) woken.take_all(consumer_);
}

void completion_queue::complete(completion_place& place) noexcept {
    sched::wake_ups woken;
    std::lock_guard guard(lock_);
    --running_;
    done_.push_back(place);
    woken.take_all(consumer_);
}

void completion_queue::fail() noexcept {
    sched::wake_ups woken;
    std::lock_guard guard(lock_);
    failed_ = true;
    woken.take_all(consumer_);
}

completion_place* completion_queue::next() {
    for (;;) {
        lock_.lock();
        completion_place* place = done_.pop_front();
        if (place || failed_ || (input_ended_ && running_ == 0)) {
            lock_.unlock();
            return place;
        }
        const auto why = sched::block(consumer_, lock_, {.what = "as_completed", .on = this});
        if (why == sched::wake_reason::cancelled) throw cancelled();
    }
}

void completion_queue::give_back(completion_place& place) noexcept {
    sched::wake_ups woken;
    std::lock_guard guard(lock_);
    free_.push_back(place);
    woken.take_all(feeder_);
}

} // namespace sennit::detail
