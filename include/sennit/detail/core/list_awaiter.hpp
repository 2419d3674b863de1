// SPDX-License-Identifier: Apache-2.0
// list_awaiter: the await of an object that lets its waiters continue in order, and hands over
// nothing but the end of the wait.
//
// The object, `Source`, has three members for it. `ready_or_lock()` completes the wait without
// waiting, and returns true; otherwise it returns false with the object's lock held.
// `suspend(handle, deadline)` enters the waiter list, releases the lock, and returns the result of
// task_wait::block. `end_suspension()` ends that wait. It returns false if the deadline has ended
// it, and throws `cancelled` if a scope has.
#pragma once

#include "sennit/detail/core/awaitable.hpp"

#include <coroutine>
#include <cstdint>
#include <utility>

namespace sennit::sched {

template <class Source>
class list_awaiter : public awaitable {
public:
    explicit list_awaiter(Source source) noexcept : source_(std::move(source)) {}
    list_awaiter(list_awaiter&& unused) noexcept : source_(std::move(unused.source_)) {}
    bool await_ready() { return !(waits_ = !source_.ready_or_lock()); }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
        return source_.suspend(caller, never);
    }
    void await_resume() {
        if (waits_) (void)source_.end_suspension();
    }

private:
    Source source_;
    bool waits_ = false;
};

// With a deadline. The await returns false if the deadline has come first.
template <class Source>
class timed_list_awaiter : public awaitable {
public:
    timed_list_awaiter(Source source, std::int64_t deadline_ns) noexcept
        : source_(std::move(source)), deadline_ns_(deadline_ns) {}
    timed_list_awaiter(timed_list_awaiter&& unused) noexcept
        : source_(std::move(unused.source_)), deadline_ns_(unused.deadline_ns_) {}
    bool await_ready() { return !(waits_ = !source_.ready_or_lock()); }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
        return source_.suspend(caller, deadline_ns_);
    }
    bool await_resume() { return !waits_ || source_.end_suspension(); }

private:
    Source source_;
    std::int64_t deadline_ns_;
    bool waits_ = false;
};

} // namespace sennit::sched
