// SPDX-License-Identifier: Apache-2.0
// What a task awaits in `async_push` and `async_pop` of a channel, with and without a deadline.
// Tested by tests/unit/task.
#pragma once

#include "sennit/channel.hpp"
#include "sennit/detail/core/awaitable.hpp"

#include <coroutine>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace sennit::detail {

template <class T>
class pop_awaiter : public sched::awaitable {
public:
    explicit pop_awaiter(channel<T>& from) noexcept : from_(from) {}
    pop_awaiter(pop_awaiter&& unused) noexcept : from_(unused.from_) {}

    // Returns true if the pop is complete. Otherwise the lock stays held.
    bool await_ready() noexcept {
        sched::claimed sender;
        from_.lock_.lock();
        if (!from_.take(value_, sender) && !from_.closed_) return !(waits_ = true);
        from_.lock_.unlock();
        sched::end_wait(sender);
        return true;
    }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
        request_.to = std::addressof(value_);
        return from_.suspend_to_pop(caller, request_);
    }
    std::optional<T> await_resume() {
        if (waits_)
            (void)from_.end_pop(request_);
        else if (!value_)
            from_.throw_error();
        return std::move(value_);
    }

private:
    channel<T>& from_;
    std::optional<T> value_;
    typename channel<T>::receive_request request_{nullptr};
    bool waits_ = false;
};

template <class T>
class push_awaiter : public sched::awaitable {
public:
    push_awaiter(channel<T>& to, T value) noexcept : to_(to), value_(std::move(value)) {}
    push_awaiter(push_awaiter&& unused) noexcept
        : to_(unused.to_), value_(std::move(unused.value_)) {}

    // Returns true if the push is complete. Otherwise the lock stays held.
    bool await_ready() {
        sched::claimed receiver;
        to_.lock_with_room();
        request_.closed = to_.closed_;
        if (!request_.closed && !to_.offer(value_, receiver)) return !(waits_ = true);
        to_.lock_.unlock();
        sched::end_wait(receiver);
        return true;
    }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
        return suspend_until(caller, sched::never);
    }
    channel_status await_resume() {
        if (waits_) return to_.end_push(request_);
        return request_.closed ? channel_status::closed : channel_status::success;
    }

protected:
    std::coroutine_handle<> suspend_until(std::coroutine_handle<> caller,
                                          std::int64_t deadline_ns) {
        request_.value = std::addressof(value_);
        return to_.suspend_to_push(caller, request_, deadline_ns);
    }

private:
    channel<T>& to_;
    T value_;
    typename channel<T>::send_request request_{nullptr};
    bool waits_ = false;
};

// The value goes directly to its destination.
template <class T>
class timed_pop_awaiter : public sched::awaitable {
public:
    timed_pop_awaiter(channel<T>& from, std::optional<T>& to, std::int64_t deadline_ns) noexcept
        : from_(from), to_(to), deadline_ns_(deadline_ns) {}
    timed_pop_awaiter(timed_pop_awaiter&& unused) noexcept
        : from_(unused.from_), to_(unused.to_), deadline_ns_(unused.deadline_ns_) {}

    // Returns true if the pop is complete. Otherwise the lock stays held.
    bool await_ready() {
        to_.reset();
        sched::claimed sender;
        from_.lock_.lock();
        if (!from_.take(to_, sender) && !from_.closed_) return !(waits_ = true);
        from_.lock_.unlock();
        sched::end_wait(sender);
        return true;
    }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
        request_.to = std::addressof(to_);
        return from_.suspend_to_pop(caller, request_, deadline_ns_);
    }
    channel_status await_resume() {
        if (waits_) return from_.end_pop(request_);
        if (to_) return channel_status::success;
        from_.throw_error();
        return channel_status::closed;
    }

private:
    channel<T>& from_;
    std::optional<T>& to_;
    std::int64_t deadline_ns_;
    typename channel<T>::receive_request request_{nullptr};
    bool waits_ = false;
};

template <class T>
class timed_push_awaiter : public push_awaiter<T> {
public:
    timed_push_awaiter(channel<T>& to, T value, std::int64_t deadline_ns) noexcept
        : push_awaiter<T>(to, std::move(value)), deadline_ns_(deadline_ns) {}
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
        return this->suspend_until(caller, deadline_ns_);
    }

private:
    std::int64_t deadline_ns_;
};

} // namespace sennit::detail
