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

// The part that both awaits share.
template <class Source>
class list_wait : public awaitable {
public:
    explicit list_wait(Source source) noexcept : source_(std::move(source)) {}
    list_wait(list_wait&& unused) noexcept : source_(std::move(unused.source_)) {}
    bool await_ready() { return !(waits_ = !source_.ready_or_lock()); }

protected:
    std::coroutine_handle<> suspend_until(std::coroutine_handle<> caller,
                                          std::int64_t deadline_ns) {
        return source_.suspend(caller, deadline_ns);
    }
    bool end() { return !waits_ || source_.end_suspension(); }

private:
    Source source_;
    bool waits_ = false;
};

template <class Source>
class list_awaiter : public list_wait<Source> {
public:
    using list_wait<Source>::list_wait;
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
        return this->suspend_until(caller, never);
    }
    void await_resume() { (void)this->end(); }
};
template <class Source>
list_awaiter(Source) -> list_awaiter<Source>;

// With a deadline. The await returns false if the deadline has come first.
template <class Source>
class timed_list_awaiter : public list_wait<Source> {
public:
    timed_list_awaiter(Source source, std::int64_t deadline_ns) noexcept
        : list_wait<Source>(std::move(source)), deadline_ns_(deadline_ns) {}
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
        return this->suspend_until(caller, deadline_ns_);
    }
    bool await_resume() { return this->end(); }

private:
    std::int64_t deadline_ns_;
};

} // namespace sennit::sched
