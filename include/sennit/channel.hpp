// SPDX-License-Identifier: Apache-2.0
// channel: a queue of values between fibers, forked children and OS threads, with any number of
// senders and receivers.
//
//     sennit::channel<int> numbers(16);
//     sennit::fiber producer([&] {
//         for (int i = 0; i < 100; ++i) numbers.push(i);
//         numbers.close();
//     });
//     for (int i : numbers) use(i);
//
// Use it to hand values from one task to another. Do not use it for a single result (`future`), or
// for one-time signals (`event`, `latch`).
//
// Capacity. A channel of capacity 0 is a rendezvous: push returns when the value has been taken. On
// an `unbounded` channel a push never blocks. Values arrive in the order of their pushes. Blocked
// callers are served in the order of their arrival.
// Closing. From then on pushes fail; a blocked push fails, too, and keeps its value. Pops return
// the remaining values, then report the end. If `close` was given an exception, pops throw it at
// the end.
// Cancellation. push and pop throw `cancelled` when they would block in a cancelled nursery or
// with_timeout. The value is then not in the channel.
// Thread safety: all members may be called concurrently. The channel may be destroyed when no call
// is in progress.
// Cost: one spin lock, held for about ten instructions. It needs no locked instruction while one
// worker uses the channel; the first use by another thread then takes 1 to 30 us.
#pragma once

#include "sennit/cancelled.hpp"
#include "sennit/channel/detail/ring_buffer.hpp"
#include "sennit/detail/core/deadline.hpp"
#include "sennit/detail/core/verbs.hpp"
#include "sennit/detail/core/wait.hpp"

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

namespace sennit {

enum class channel_status : std::uint8_t {
    success,
    empty,   // try_pop: the channel holds no value
    full,    // try_push: there is no room, and no receiver waits
    timeout, // the deadline came first
    closed,  // push: the value was not taken; pop: no value will come any more
};

namespace detail {

// The type-independent part of a channel: its lock, the closed flag, and the lists of blocked
// senders and receivers. Implemented in src/channel/channel.cpp.
class channel_core {
public:
    channel_core(const channel_core&) = delete;
    channel_core& operator=(const channel_core&) = delete;

protected:
    channel_core() noexcept = default;
    ~channel_core() = default;
    // The data that a waiter's entry offers to the other side.
    struct send_request {
        void* value;
        bool closed = false;
    };
    struct receive_request {
        void* to; // points to an empty optional
        bool given = false;
    };

    // Block the caller. The caller holds the lock; these functions release it. `value` and `to` are
    // the pointers of a send_request and a receive_request. A deadline of `never` waits without
    // limit.
    channel_status wait_to_push(void* value, std::int64_t deadline_ns);
    channel_status wait_to_pop(void* to, std::int64_t deadline_ns);
    // Needs no lock after the close: `error_` is written before `closed_` and does not change any
    // more.
    void throw_error() const {
        if (error_) std::rethrow_exception(error_);
    }

    mutable base::spin_lock lock_; // guards all members below
    base::lock_uses uses_;
    bool closed_ = false;
    std::exception_ptr error_;
    sched::wait_list senders_;
    sched::wait_list receivers_;

    // For a task, as the last action of await_suspend. The caller holds the lock. `mine` is a
    // request, which lies in the awaiter.
    std::coroutine_handle<> suspend_to_push(std::coroutine_handle<> at, send_request& mine,
                                            std::int64_t deadline_ns = sched::never);
    std::coroutine_handle<> suspend_to_pop(std::coroutine_handle<> at, receive_request& mine,
                                           std::int64_t deadline_ns = sched::never);
    // End these waits. Throw `cancelled`, and the error that was given to close.
    channel_status end_push(const send_request& mine);
    channel_status end_pop(const receive_request& mine);

private:
    sched::wake_reason wait_in(sched::wait_list& list, void* mine, const char* what,
                               std::int64_t deadline_ns);
};

template <class T>
class receive_case;
template <class T>
class send_case;
template <class T>
class pop_awaiter;
template <class T>
class push_awaiter;
template <class T>
class timed_pop_awaiter;
template <class T>
class timed_push_awaiter;

} // namespace detail

template <class T>
class channel : private detail::channel_core {
    static_assert(std::is_object_v<T> && !std::is_const_v<T>,
                  "sennit: a channel carries objects; send pointers");
    static_assert(std::is_nothrow_move_constructible_v<T>,
                  "sennit: a channel's values must move without throwing");

public:
    using value_type = T;
    static constexpr std::size_t unbounded = SIZE_MAX;

    // Creates an open, empty channel. Throws std::bad_alloc.
    explicit channel(std::size_t capacity = 0) : capacity_(capacity) {
        if (capacity != unbounded) values_.reserve(capacity);
    }

    // Blocks until the channel has room for the value or a receiver takes it. Returns success or
    // closed. Throws `cancelled`. A push to an unbounded channel may throw std::bad_alloc; the
    // value is lost then.
    channel_status push(T value) { return push_before(value, sched::never); }
    // try_push does not block: it returns success, full or closed. push_for and push_until block
    // until the deadline at most, and may also return timeout. All forms move from the value on
    // success only. They throw like push.
    channel_status try_push(T&& value) {
        sched::claimed receiver;
        lock_with_room();
        const channel_status how = closed_                  ? channel_status::closed
                                   : offer(value, receiver) ? channel_status::success
                                                            : channel_status::full;
        lock_.unlock();
        sched::end_wait(receiver);
        return how;
    }
    channel_status try_push(const T& value) { return try_push(T(value)); }
    template <class Rep, class Period>
    channel_status push_for(T&& value, const std::chrono::duration<Rep, Period>& duration) {
        return push_before(value, sched::deadline_in(duration));
    }
    template <class Rep, class Period>
    channel_status push_for(const T& value, const std::chrono::duration<Rep, Period>& duration) {
        return push_for(T(value), duration);
    }
    template <class Clock, class Duration>
    channel_status push_until(T&& value, const std::chrono::time_point<Clock, Duration>& when) {
        return sched::wait_until(when, channel_status::timeout,
                                 [&](std::int64_t until) { return push_before(value, until); });
    }
    template <class Clock, class Duration>
    channel_status push_until(const T& value,
                              const std::chrono::time_point<Clock, Duration>& when) {
        return push_until(T(value), when);
    }

    // Blocks until a value arrives, and returns it. Returns nothing when the channel is closed and
    // drained. Throws `cancelled`, or the exception that was given to close.
    std::optional<T> pop() {
        std::optional<T> value;
        (void)pop_before(value, sched::never);
        return value;
    }
    // These write `to` on success only. try_pop does not block: it returns success, empty or
    // closed. The timed forms block until the deadline at most, and may return timeout. All throw
    // like pop. Pass an optional for a T that cannot be assigned or default-constructed.
    channel_status try_pop(T& to) { return assigned_now(to); }
    channel_status try_pop(std::optional<T>& to) { return assigned_now(to); }
    channel_status pop(T& to) { return assigned(to, sched::never); }
    template <class Rep, class Period>
    channel_status pop_for(T& to, const std::chrono::duration<Rep, Period>& duration) {
        return assigned(to, sched::deadline_in(duration));
    }
    template <class Rep, class Period>
    channel_status pop_for(std::optional<T>& to,
                           const std::chrono::duration<Rep, Period>& duration) {
        return assigned(to, sched::deadline_in(duration));
    }
    template <class Clock, class Duration>
    channel_status pop_until(T& to, const std::chrono::time_point<Clock, Duration>& when) {
        return sched::wait_until(when, channel_status::timeout,
                                 [&](std::int64_t until) { return assigned(to, until); });
    }
    template <class Clock, class Duration>
    channel_status pop_until(std::optional<T>& to,
                             const std::chrono::time_point<Clock, Duration>& when) {
        return sched::wait_until(when, channel_status::timeout,
                                 [&](std::int64_t until) { return assigned(to, until); });
    }

    // The forms of push and pop for a task, with the same results and exceptions:
    // `co_await c.async_push(value)`, `co_await c.async_pop()`. An async_push that throws loses the
    // value. The first one to an unbounded channel that must grow may throw std::bad_alloc.
    detail::push_awaiter<T> async_push(T value) {
        return detail::push_awaiter<T>(*this, std::move(value));
    }
    detail::pop_awaiter<T> async_pop() noexcept { return detail::pop_awaiter<T>(*this); }
    // With a limit, with the results of push_for and pop_for: success, timeout or closed. The await
    // of a pop writes the value to `to`, which must outlive it.
    template <class Rep, class Period>
    auto async_push_for(T value, const std::chrono::duration<Rep, Period>& duration) {
        return detail::timed_push_awaiter<T>(*this, std::move(value), sched::deadline_in(duration));
    }
    template <class Duration>
    auto
    async_push_until(T value,
                     const std::chrono::time_point<std::chrono::steady_clock, Duration>& when) {
        return detail::timed_push_awaiter<T>(*this, std::move(value), sched::deadline_of(when));
    }
    template <class Rep, class Period>
    auto async_pop_for(std::optional<T>& to, const std::chrono::duration<Rep, Period>& duration) {
        return detail::timed_pop_awaiter<T>(*this, to, sched::deadline_in(duration));
    }
    template <class Duration>
    auto async_pop_until(std::optional<T>& to,
                         const std::chrono::time_point<std::chrono::steady_clock, Duration>& when) {
        return detail::timed_pop_awaiter<T>(*this, to, sched::deadline_of(when));
    }

    // Closes the channel. Does not block. May be called any number of times; only the first call
    // has an effect.
    void close() noexcept { close(nullptr); }
    void close(std::exception_ptr error) noexcept {
        sched::wake_ups woken;
        std::lock_guard guard(lock_);
        if (closed_) return;
        closed_ = true;
        error_ = std::move(error);
        while (const sched::claimed one = sched::claim_first(senders_)) {
            static_cast<send_request*>(one.entry->data)->closed = true;
            woken.add(one);
        }
        woken.take_all(receivers_); // receivers are blocked only while the channel holds no value
    }
    // Returns true once the channel is closed, even if it still holds values.
    bool is_closed() const noexcept {
        std::lock_guard guard(lock_);
        return closed_;
    }
    // Returns the number of values in the channel.
    std::size_t size() const noexcept {
        std::lock_guard guard(lock_);
        return values_.size();
    }
    // Returns the capacity given to the constructor.
    std::size_t capacity() const noexcept { return capacity_; }

    // The iterator of `for (T& value : channel)`, which pops until the end.
    class iterator {
    public:
        using iterator_concept = std::input_iterator_tag;
        using value_type = T;
        using difference_type = std::ptrdiff_t;

        iterator() noexcept = default;
        explicit iterator(channel& from) : from_(&from) { ++*this; }
        iterator(iterator&&) noexcept = default;
        iterator& operator=(iterator&&) noexcept = default;

        T& operator*() const noexcept { return *value_; }
        T* operator->() const noexcept { return std::addressof(*value_); }
        iterator& operator++() {
            value_.reset();
            (void)from_->pop_before(value_, sched::never);
            return *this;
        }
        void operator++(int) { ++*this; }
        friend bool operator==(const iterator& it, std::default_sentinel_t) noexcept {
            return !it.value_;
        }

    private:
        channel* from_ = nullptr;
        mutable std::optional<T> value_;
    };
    iterator begin() { return iterator(*this); }
    std::default_sentinel_t end() noexcept { return {}; }

private:
    friend class detail::receive_case<T>;
    friend class detail::send_case<T>;
    friend class detail::pop_awaiter<T>;
    friend class detail::push_awaiter<T>;
    friend detail::timed_pop_awaiter<T>;

    // ---- The caller holds the lock. A result of false means that the call changed nothing. The
    // caller then wakes the waiter that it finds in `other`.
    [[gnu::always_inline]] bool offer(T& value, sched::claimed& other) noexcept {
        if (const sched::claimed one = sched::claim_first(receivers_)) {
            auto& its = *static_cast<receive_request*>(one.entry->data);
            static_cast<std::optional<T>*>(its.to)->emplace(std::move(value));
            its.given = true;
            other = one;
            return true;
        }
        if (values_.size() == values_.room()) return false;
        values_.push(std::move(value));
        return true;
    }
    [[gnu::always_inline]] bool take(std::optional<T>& to, sched::claimed& other) noexcept {
        if (values_.size() > 0) {
            to.emplace(values_.pop());
            if ((other = sched::claim_first(senders_))) values_.push(std::move(*sent_by(other)));
            return true;
        }
        // The channel is a rendezvous: take the value from a blocked sender.
        other = sched::claim_first(senders_);
        if (other) to.emplace(std::move(*sent_by(other)));
        return static_cast<bool>(other);
    }
    static T* sent_by(const sched::claimed& one) noexcept {
        return static_cast<T*>(static_cast<send_request*>(one.entry->data)->value);
    }

    channel_status push_before(T& value, std::int64_t deadline_ns) {
        if (!lock_.lock_plainly()) [[unlikely]]
            return push_contended(value, deadline_ns);
        // The usual case: there is room, and no receiver waits.
        if (values_.size() + promised_ < values_.room() && receivers_.empty() && !closed_) {
            values_.push(std::move(value));
            lock_.unlock();
            return channel_status::success;
        }
        if (capacity_ != unbounded) return push_or_wait(value, deadline_ns);
        lock_.unlock();
        return push_contended(value, deadline_ns);
    }
    // A separate function, so that push_before saves no registers for a call that is very rare.
    [[gnu::noinline]] channel_status push_contended(T& value, std::int64_t deadline_ns) {
        sched::yield_if_requested();
        lock_with_room();
        return push_or_wait(value, deadline_ns);
    }
    // Called with the lock held, and returns with it free, like the functions below. They are
    // separate functions, to keep the paths that need no other side short.
    [[gnu::noinline]] channel_status push_or_wait(T& value, std::int64_t deadline_ns) {
        sched::claimed receiver;
        if (!closed_ && offer(value, receiver)) {
            lock_.unlock();
            sched::end_wait(receiver);
            return channel_status::success;
        }
        return wait_to_push(std::addressof(value), deadline_ns);
    }

    channel_status pop_before(std::optional<T>& to, std::int64_t deadline_ns) {
        if (!lock_.lock_plainly()) [[unlikely]]
            return pop_contended(to, deadline_ns);
        // The usual case: a value lies in the channel, and no sender waits.
        if (values_.size() > 0 && senders_.empty()) {
            to.emplace(values_.pop());
            lock_.unlock();
            return channel_status::success;
        }
        return pop_or_wait(to, deadline_ns);
    }
    [[gnu::noinline]] channel_status pop_contended(std::optional<T>& to, std::int64_t deadline_ns) {
        sched::yield_if_requested();
        lock_.lock(uses_);
        return pop_or_wait(to, deadline_ns);
    }
    [[gnu::noinline]] channel_status pop_or_wait(std::optional<T>& to, std::int64_t deadline_ns) {
        sched::claimed sender;
        if (take(to, sender)) {
            lock_.unlock();
            sched::end_wait(sender);
            return channel_status::success;
        }
        return wait_to_pop(&to, deadline_ns);
    }

    // Called without the lock, because the assignment destroys the previous value of `to`.
    static void assign(T& to, std::optional<T>& from) { to = std::move(*from); }
    static void assign(std::optional<T>& to, std::optional<T>& from) {
        to.emplace(std::move(*from));
    }
    template <class To>
    channel_status assigned(To& to, std::int64_t deadline_ns) {
        std::optional<T> value;
        const channel_status how = pop_before(value, deadline_ns);
        if (how == channel_status::success) assign(to, value);
        return how;
    }
    template <class To>
    channel_status assigned_now(To& to) {
        std::optional<T> value;
        sched::claimed sender;
        lock_.lock();
        const bool taken = take(value, sender), closed = closed_;
        lock_.unlock();
        sched::end_wait(sender);
        if (!taken) {
            if (!closed) return channel_status::empty;
            throw_error();
            return channel_status::closed;
        }
        assign(to, value);
        return channel_status::success;
    }

    // Takes the lock, and makes room for one more value if the channel is unbounded. The buffer
    // grows without the lock held.
    void lock_with_room() {
        lock_.lock(uses_);
        while (capacity_ == unbounded && values_.size() + promised_ >= values_.room()) {
            const std::size_t room = values_.room();
            lock_.unlock();
            grow(room);
            lock_.lock();
        }
    }
    [[gnu::noinline]] void grow(std::size_t room) {
        // the larger or the old buffer is freed without the lock held
        detail::ring_buffer<T> larger;
        larger.reserve(room == 0 ? 16 : 2 * room);
        std::lock_guard guard(lock_);
        if (values_.room() == room) values_.move_to(larger);
    }
    // Reserves room for one more value until take_promise_back. A select needs it, because it
    // cannot grow the buffer.
    void promise_room() {
        if (capacity_ != unbounded) return;
        lock_with_room();
        ++promised_;
        lock_.unlock();
    }
    void take_promise_back() noexcept {
        if (capacity_ != unbounded) return;
        std::lock_guard guard(lock_);
        --promised_;
    }

    const std::size_t capacity_;
    // Guarded by the lock:
    detail::ring_buffer<T> values_;
    std::size_t promised_ = 0; // places reserved for selects
};

} // namespace sennit

#include "sennit/channel/detail/awaiters.hpp"
