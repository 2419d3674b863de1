// SPDX-License-Identifier: Apache-2.0
#include "sennit/shared_mutex.hpp"

#include "sennit/detail/base/check.hpp"
#include "sennit/detail/core/strand.hpp"
#include "sennit/detail/core/task_strand.hpp"
#include "sennit/detail/core/verbs.hpp"

#include <mutex>
#include <system_error>

namespace sennit {

namespace {
[[noreturn]] void throw_system_error(std::errc what, const char* where) {
    throw std::system_error(std::make_error_code(what), where);
}
} // namespace

shared_mutex::~shared_mutex() {
    SENNIT_CHECK(waiters_.empty(), "[SNT-205] a shared mutex was destroyed while a fiber or thread "
                                   "waits for it; let every waiter return first");
}

void shared_mutex::admit(kind what, void* who) noexcept {
    if (what == kind::writer)
        writer_ = who;
    else
        ++readers_;
}

// Hands the lock to the first waiter. If that is a reader, hands it to the readers behind it, too.
void shared_mutex::admit_waiters(sched::wake_ups& woken) noexcept {
    while (sched::wait_entry* first = waiters_.front()) {
        const request what = *static_cast<request*>(first->data);
        if (!admits(what.what)) return;
        // claim_first drops entries whose wait has ended for another reason, so it may claim a
        // later entry.
        const sched::claimed one = sched::claim_first(waiters_, 1);
        if (!one) continue;
        admit(what.what, what.who);
        woken.add(one);
    }
}

bool shared_mutex::enter_or_lock(request& mine) {
    mine.who = sched::current_identity();
    lock_.lock();
    if (writer_ == mine.who) {
        lock_.unlock();
        throw_system_error(std::errc::resource_deadlock_would_occur,
                           "sennit: [SNT-206] shared_mutex::lock: the caller owns this mutex "
                           "already as its writer; unlock it first");
    }
    if (!admits(mine.what) || !waiters_.empty()) return false;
    admit(mine.what, mine.who);
    lock_.unlock();
    return true;
}

// After a wait that a deadline has ended: a writer that gave up may have kept readers waiting.
void shared_mutex::give_up() noexcept {
    sched::wake_ups woken;
    std::lock_guard guard(lock_);
    admit_waiters(woken);
}

bool shared_mutex::enter(kind what, std::int64_t deadline_ns) {
    sched::yield_if_requested();
    request mine{what};
    if (enter_or_lock(mine)) return true;
    const auto why = sched::block(
        waiters_, lock_,
        {.deadline_ns = deadline_ns, .cancellable = false, .what = "shared_mutex", .on = this},
        &mine);
    if (why == sched::wake_reason::source) return true;
    give_up();
    return false;
}

bool shared_mutex::entering::ready_or_lock() {
    return self->enter_or_lock(mine);
}
std::coroutine_handle<> shared_mutex::entering::suspend(std::coroutine_handle<> at,
                                                        std::int64_t deadline_ns) {
    return sched::task_wait::block(
        at, self->waiters_, self->lock_,
        {.deadline_ns = deadline_ns, .cancellable = false, .what = "shared_mutex", .on = self},
        &mine);
}
bool shared_mutex::entering::end_suspension() noexcept {
    if (sched::task_wait::unblock(self->waiters_, self->lock_) == sched::wake_reason::source)
        return true;
    self->give_up();
    return false;
}

bool shared_mutex::lock_until(std::int64_t deadline_ns) {
    return enter(kind::writer, deadline_ns);
}

bool shared_mutex::lock_shared_until(std::int64_t deadline_ns) {
    return enter(kind::reader, deadline_ns);
}

bool shared_mutex::try_lock() noexcept {
    std::lock_guard guard(lock_);
    if (!admits(kind::writer)) return false;
    admit(kind::writer, sched::current_identity());
    return true;
}

bool shared_mutex::try_lock_shared() noexcept {
    std::lock_guard guard(lock_);
    if (!admits(kind::reader) || !waiters_.empty()) return false;
    admit(kind::reader, nullptr);
    return true;
}

void shared_mutex::unlock() {
    sched::wake_ups woken;
    std::lock_guard guard(lock_);
    if (writer_ != sched::current_identity())
        throw_system_error(
            std::errc::operation_not_permitted,
            "sennit: [SNT-207] shared_mutex::unlock: the caller is not the writer that owns this "
            "mutex; only the fiber or thread that locked it may unlock it");
    writer_ = nullptr;
    admit_waiters(woken);
}

void shared_mutex::unlock_shared() {
    sched::wake_ups woken;
    std::lock_guard guard(lock_);
    if (readers_ == 0)
        throw_system_error(std::errc::operation_not_permitted,
                           "sennit: [SNT-208] shared_mutex::unlock_shared: no reader owns this "
                           "mutex; call it once for each lock_shared");
    if (--readers_ == 0) admit_waiters(woken);
}

} // namespace sennit
