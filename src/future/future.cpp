// SPDX-License-Identifier: Apache-2.0
#include "sennit/future/detail/state.hpp"

#include "sennit/cancelled.hpp"
#include "sennit/detail/core/task_strand.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <new>
#include <utility>

namespace sennit::detail {

namespace {

void act_all(continuation_queue& due) noexcept {
    while (continuation* next = due.pop_front()) next->act(*next, due);
}

} // namespace

void throw_future_error(std::future_errc code) {
    throw std::future_error(code);
}

sched::wake_reason future_state::wait(std::int64_t deadline_ns, const char* what) noexcept {
    if (ready()) return sched::wake_reason::source;
    lock_.lock();
    if (!ready())
        return sched::block(waiters_, lock_,
                            {.deadline_ns = deadline_ns, .what = what, .on = this});
    lock_.unlock();
    return sched::wake_reason::source;
}

void future_state::wait_ready(const char* what) {
    if (wait(sched::never, what) == sched::wake_reason::cancelled) throw cancelled();
}

void future_state::set_filler(sched::task_strand& filler) noexcept {
    // SAFETY: both are parts of one object.
    filler_offset_ = static_cast<std::int32_t>(reinterpret_cast<std::byte*>(&filler) -
                                               reinterpret_cast<std::byte*>(this));
}

void future_state::run_filler_if_newest() noexcept {
    if (filler_offset_ == 0) return;
    // SAFETY: set_filler has stored the distance.
    auto& filler =
        *reinterpret_cast<sched::task_strand*>(reinterpret_cast<std::byte*>(this) + filler_offset_);
    sched::task_wait::run_if_newest(filler);
}

bool future_state::ready_or_lock() noexcept {
    if (ready()) return true;
    lock_.lock();
    if (!ready()) return false;
    lock_.unlock();
    return true;
}

std::coroutine_handle<> future_state::suspend(std::coroutine_handle<> at,
                                              std::int64_t deadline_ns) {
    return sched::task_wait::block(at, waiters_, lock_,
                                   {.deadline_ns = deadline_ns, .what = "future", .on = this});
}

sched::wake_reason future_state::end_suspension() noexcept {
    return sched::task_wait::unblock(waiters_, lock_);
}

bool future_state::add_waiter(sched::wait_entry& entry) noexcept {
    std::lock_guard guard(lock_);
    if (ready()) return false;
    sched::enqueue(waiters_, entry);
    return true;
}

void future_state::remove_waiter(sched::wait_entry& entry) noexcept {
    std::lock_guard guard(lock_);
    sched::dequeue(waiters_, entry);
}

void future_state::attach(continuation& what) noexcept {
    {
        std::lock_guard guard(lock_);
        if (!ready()) {
            continuations_.push(what);
            what.queued = true;
            return;
        }
    }
    what.failed = outcome_.failed();
    continuation_queue due;
    what.act(what, due);
    act_all(due);
}

bool future_state::detach(continuation& what) noexcept {
    std::lock_guard guard(lock_);
    if (!std::exchange(what.queued, false)) return false;
    continuations_.remove(what);
    return true;
}

bool future_state::try_begin() noexcept {
    std::uint32_t seen = is_empty;
    return status_.cas_acq(seen, is_setting); // pairs with undo
}

void future_state::begin() {
    if (!try_begin()) throw_future_error(std::future_errc::promise_already_satisfied);
}

void future_state::undo() noexcept {
    status_.store_rel(is_empty); // pairs with try_begin
}

void future_state::publish_into(continuation_queue& due) noexcept {
    sched::wake_ups woken; // wakes outside the lock
    std::lock_guard guard(lock_);
    status_.store_rel(is_ready); // pairs with ready
    woken.take_all(waiters_);
    continuation_queue mine; // In the order in which they were attached.
    while (continuation* next = continuations_.pop()) {
        next->queued = false;
        next->failed = outcome_.failed();
        mine.push_front(*next);
    }
    due.append(mine);
}

void future_state::publish() noexcept {
    continuation_queue due;
    publish_into(due);
    act_all(due);
}

void future_state::publish_error(std::exception_ptr error) noexcept {
    outcome_.set_error(std::move(error));
    publish();
}

void future_state::abandon() noexcept {
    // Orders nothing: no future is left to ask, and the last drop acquires.
    if (references_.load_rlx() == 1) return;
    if (!try_begin()) return;
    std::exception_ptr why;
    try {
        // The text of the error needs memory.
        why = std::make_exception_ptr(std::future_error(std::future_errc::broken_promise));
    } catch (const std::bad_alloc&) {
        why = std::current_exception();
    }
    publish_error(std::move(why));
}

} // namespace sennit::detail
