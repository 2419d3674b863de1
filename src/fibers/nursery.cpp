// SPDX-License-Identifier: Apache-2.0
#include "sennit/nursery.hpp"

#include "sennit/detail/core/strand.hpp"

namespace sennit {

nursery::nursery()
    : scope_(sched::current_scope()), uncaught_at_start_(std::uncaught_exceptions()) {}

nursery::~nursery() noexcept(false) {
    {
        std::unique_lock guard(lock_);
        if (children_ != 0) {
            guard.unlock();
            cancel();
        }
    }
    wait_for_children();
    if (error_ && std::uncaught_exceptions() == uncaught_at_start_)
        std::rethrow_exception(std::move(error_));
}

void nursery::begin(sched::fiber_block& fresh, launch policy) noexcept {
    {
        std::lock_guard guard(lock_);
        ++children_;
    }
    fresh.detach_unstarted();
    fresh.launch(policy == launch::now ? sched::fiber_block::start::now
                                       : sched::fiber_block::start::enqueue);
}

void nursery::child_ended() noexcept {
    sched::wake_ups woken;
    std::lock_guard guard(lock_);
    if (--children_ == 0) woken.take_all(joiner_);
}

void nursery::wait_for_children() noexcept {
    for (bool disturbed = false;;) {
        lock_.lock();
        if (children_ == 0) {
            lock_.unlock();
            return;
        }
        const auto why = sched::block(
            joiner_, lock_, {.cancellable = !disturbed, .what = "nursery::join", .on = this});
        if (why != sched::wake_reason::cancelled) continue;
        disturbed = true;
        cancel_children();
        cut_short();
    }
}

void nursery::join() {
    wait_for_children();
    if (std::exception_ptr error = std::exchange(error_, nullptr))
        std::rethrow_exception(std::move(error));
    const bool from_above = [&] {
        std::lock_guard guard(lock_); // another thread may cancel the nursery even now
        return cut_short_ && !by_ourselves_;
    }();
    if (from_above) throw sennit::cancelled();
}

void nursery::cut_short() noexcept {
    std::lock_guard guard(lock_);
    cut_short_ = true;
}

void nursery::record(std::exception_ptr error) noexcept {
    {
        std::lock_guard guard(lock_);
        if (!error_) error_ = std::move(error);
    }
    cancel();
}

void nursery::cancel() noexcept {
    {
        std::lock_guard guard(lock_);
        by_ourselves_ = true;
    }
    cancel_children();
}

void nursery::cancel_children() noexcept {
    scope_.cancel();
    std::stop_source source{std::nostopstate};
    {
        std::lock_guard guard(lock_);
        if (stop_source_) source = *stop_source_;
    }
    source.request_stop(); // runs callbacks, so outside the lock
}

std::stop_token nursery::get_stop_token() {
    std::unique_lock guard(lock_);
    if (!stop_source_) {
        guard.unlock();
        auto fresh = std::make_unique<std::stop_source>(); // may allocate, so outside the lock
        guard.lock();
        if (!stop_source_) stop_source_ = std::move(fresh);
    }
    std::stop_token token = stop_source_->get_token();
    guard.unlock();
    // The canceller may not have seen the source, or may not have come to it yet.
    if (cancelled()) cancel_children();
    return token;
}

} // namespace sennit
