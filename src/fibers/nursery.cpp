// SPDX-License-Identifier: Apache-2.0
#include "sennit/nursery.hpp"

#include "sennit/detail/base/check.hpp"
#include "sennit/detail/core/strand.hpp"
#include "sennit/detail/core/task_strand.hpp"
#include "sennit/detail/core/verbs.hpp"

#include <cstdint>
#include <vector>

namespace sennit {

nursery::nursery() : nursery(nursery_options{}) {}

nursery::nursery(const nursery_options& how)
    : scope_(sched::current_scope()), uncaught_at_start_(std::uncaught_exceptions()),
      simple_(how.limit == SIZE_MAX && !how.collect_errors), collects_(how.collect_errors),
      owner_(sched::current_identity()), free_places_(how.limit) {
    SENNIT_CHECK(how.limit > 0, "[SNT-080] a nursery was made with a limit of 0, so that no child "
                                "could start; pass 1 or more, or leave the limit out");
}

nursery::~nursery() noexcept(false) {
    {
        std::unique_lock guard(lock_);
        if (children_ != 0) {
            guard.unlock();
            cancel();
        }
    }
    wait_for_children();
    if (std::uncaught_exceptions() == uncaught_at_start_) throw_error();
    drop_errors();
}

// Under the lock.
inline void nursery::count_child(error_node* reserved) noexcept {
    ++children_;
    if (reserved) {
        reserved_.push_back(*reserved);
        ++reserved_count_;
    }
}

void nursery::begin(sched::fiber_block& fresh, launch policy, error_node* reserved) noexcept {
    {
        std::lock_guard guard(lock_);
        count_child(reserved);
    }
    fresh.detach_unstarted();
    fresh.launch(detail::start_of(policy));
}

// A place may have become free since the caller looked.
void nursery::begin_or_queue(sched::fiber_block& fresh, error_node* reserved) noexcept {
    fresh.detach_unstarted();
    {
        std::lock_guard guard(lock_);
        count_child(reserved);
        if (free_places_ == 0) return queued_.push_back(fresh);
        --free_places_;
    }
    fresh.launch(sched::fiber_block::start::enqueue);
}

nursery::admission nursery::try_take_place() noexcept {
    std::lock_guard guard(lock_);
    if (free_places_ == 0) return admission::refused;
    --free_places_;
    return admission::place;
}

nursery::admission nursery::admit() {
    lock_.lock();
    if (free_places_ > 0) {
        --free_places_;
        lock_.unlock();
        return admission::place;
    }
    if (sched::current_identity() != owner_) {
        lock_.unlock();
        return admission::queue;
    }
    // A canceller sets the flag and then takes the lock, so it finds this wait or is seen here.
    bool given = false;
    if (!cancelled()) {
        const auto why =
            sched::block(place_waiter_, lock_, {.what = "nursery::start", .on = this}, &given);
        if (why == sched::wake_reason::cancelled) throw sennit::cancelled();
        if (given && !cancelled()) return admission::place;
    } else {
        lock_.unlock();
    }
    if (given) give_place();
    cut_short();
    return admission::refused;
}

// A place that is free again. Under the lock. Returns the queued child that gets the place and that
// the caller must launch after it has released the lock, if any.
sched::runnable* nursery::pass_place_on(sched::wake_ups& woken) noexcept {
    if (sched::runnable* next = queued_.pop_front()) return next;
    if (const sched::claimed owner = sched::claim_first(place_waiter_)) {
        *static_cast<bool*>(owner.entry->data) = true;
        woken.add(owner);
    } else {
        ++free_places_;
    }
    return nullptr;
}

void nursery::give_place() noexcept {
    sched::runnable* next;
    {
        sched::wake_ups woken;
        std::lock_guard guard(lock_);
        next = pass_place_on(woken);
    }
    if (next) launch_child(*next);
}

// If no child is left, the nursery may be gone as soon as the lock is free. A queued child that is
// launched here keeps the nursery alive until then.
void nursery::child_ended() noexcept {
    sched::runnable* next = nullptr;
    error_node* unused = nullptr;
    {
        sched::wake_ups woken;
        std::lock_guard guard(lock_);
        if (!simple_) next = pass_place_on(woken);
        if (--children_ == 0) woken.take_all(joiner_);
        if (reserved_count_ > children_) { // this child did not fail, or an earlier one
            unused = reserved_.pop_front();
            --reserved_count_;
        }
    }
    delete unused;
    if (next) launch_child(*next);
}

// A child that has a place.
void nursery::launch_child(sched::runnable& fresh) noexcept {
    if (fresh.run == &sched::task_strand::run_ready) {
        auto& strand = static_cast<sched::task_strand&>(fresh);
        sched::spawn(strand, strand.runtime);
    } else {
        static_cast<sched::fiber_block&>(fresh).launch(sched::fiber_block::start::enqueue);
    }
}

void nursery::begin_task(sched::task_strand& fresh, admission as, error_node* reserved) noexcept {
    {
        std::lock_guard guard(lock_);
        count_child(reserved);
        if (as == admission::queue) {
            if (free_places_ == 0) return queued_.push_back(fresh);
            --free_places_; // A place has become free since the caller looked.
        }
    }
    launch_child(fresh);
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
    throw_error();
    const bool from_above = [&] {
        std::lock_guard guard(lock_); // another thread may cancel the nursery even now
        return cut_short_ && !by_ourselves_;
    }();
    if (from_above) throw sennit::cancelled();
}

// Once all children have ended: throws the exceptions of the children, if any, and forgets them.
void nursery::throw_error() {
    if (std::exception_ptr error = std::exchange(error_, nullptr))
        std::rethrow_exception(std::move(error));
    if (!collects_) return;
    std::vector<std::exception_ptr> all;
    try {
        all.reserve(error_count_);
    } catch (...) {
        drop_errors(); // the caller learns of the missing memory instead
        throw;
    }
    for (error_node* one = errors_.front(); one; one = errors_.after(*one))
        all.push_back(std::move(one->error));
    drop_errors();
    if (!all.empty()) throw exception_list(std::move(all));
}

void nursery::drop_errors() noexcept {
    error_count_ = 0;
    while (error_node* one = errors_.pop_front()) delete one;
}

void nursery::cut_short() noexcept {
    std::lock_guard guard(lock_);
    cut_short_ = true;
}

void nursery::record(std::exception_ptr error) noexcept {
    {
        std::lock_guard guard(lock_);
        if (collects_) {
            error_node& place = *reserved_.pop_front();
            --reserved_count_;
            place.error = std::move(error);
            errors_.push_back(place);
            ++error_count_;
            return;
        }
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
        sched::wake_ups woken;
        std::lock_guard guard(lock_);
        if (stop_source_) source = *stop_source_;
        woken.take_all(place_waiter_); // it gets no place, and gives up
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
