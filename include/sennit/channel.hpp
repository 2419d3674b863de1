// SPDX-License-Identifier: Apache-2.0
// channel: a queue between fibers, forked children and OS threads; any number of them on both
// sides.
//
//     sennit::channel<int> numbers(16);
//     sennit::fiber producer([&] { for (int i = 0; i < 100; ++i) numbers.push(i); numbers.close();
//     }); for (int i : numbers) use(i);
//
// Capacity: 0 makes a rendezvous, push returns when the value has been taken; `unbounded` never
// blocks a push. Values arrive in the order of their pushes. Who waits is served in the order of
// coming. Closing: pushes fail from then on, those that wait as well (they keep their values); pops
// get what is left, then learn of the end. An exception given to `close` is thrown by pops at the
// end. Points of cancellation: push and pop throw `cancelled` when they would wait in a cancelled
// nursery or with_timeout; the value then is not in the channel. The channel may be destroyed when
// no call is under way any more. Cost: one spin lock, held for some ten instructions.
#pragma once

#include "sennit/cancelled.hpp"
#include "sennit/detail/base/no_store_merge.hpp"
#include "sennit/detail/core/deadline.hpp"
#include "sennit/detail/core/slab_cache.hpp"
#include "sennit/detail/core/verbs.hpp"
#include "sennit/detail/core/wait.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace sennit {

enum class channel_status : std::uint8_t {
    success,
    empty,   // try_pop: nothing there
    full,    // try_push: no room, and nobody waits for a value
    timeout, // the deadline came first
    closed,  // push: the value was not taken; pop: nothing will come any more
};

namespace detail {

// What of a channel does not know its values: who waits, and how. In src/channel/channel.cpp.
class channel_core {
public:
    channel_core(const channel_core&) = delete;
    channel_core& operator=(const channel_core&) = delete;

protected:
    channel_core() noexcept = default;
    ~channel_core() = default;
    // What the other side finds in a waiter's entry.
    struct send_request {
        void* value;
        bool closed = false;
    };
    struct receive_request {
        void* to; // an empty optional
        bool given = false;
    };

    // Block, with the lock held, which is free then. `value` and `to` as above; for `never`, or
    // until a deadline.
    channel_status wait_to_push(void* value, std::int64_t deadline_ns);
    channel_status wait_to_pop(void* to, std::int64_t deadline_ns);
    // Written before `closed_` is, and not changed any more.
    void throw_error() const {
        if (error_) std::rethrow_exception(error_);
    }

    mutable base::spin_lock lock_; // guards all below
    bool closed_ = false;
    std::exception_ptr error_;
    sched::wait_list senders_;
    sched::wait_list receivers_;

private:
    sched::wake_reason wait_in(sched::wait_list& list, void* mine, const char* what,
                               std::int64_t deadline_ns);
};

template <class T>
class ring_buffer; // below
template <class T>
class receive_case;
template <class T>
class send_case;

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

    // Throws std::bad_alloc.
    explicit channel(std::size_t capacity = 0) : capacity_(capacity) {
        if (capacity != unbounded) values_.reserve(capacity);
    }

    // success or closed. An unbounded channel's may throw std::bad_alloc; the value is lost then.
    channel_status push(T value) { return push_before(value, sched::never); }
    // The value is moved from on success only; so it is in the timed forms.
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

    // Nothing: closed and drained.
    std::optional<T> pop() {
        std::optional<T> value;
        (void)pop_before(value, sched::never);
        return value;
    }
    // `to` is written on success only. An optional is for a T that cannot be assigned, or made
    // beforehand.
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

    // Any number of times; the first one counts.
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
        woken.take_all(receivers_); // they find nothing
    }
    bool is_closed() const noexcept {
        std::lock_guard guard(lock_);
        return closed_;
    }
    // Values that lie in the channel.
    std::size_t size() const noexcept {
        std::lock_guard guard(lock_);
        return values_.size();
    }
    std::size_t capacity() const noexcept { return capacity_; }

    // For `for (T& value : channel)`: pops until the end.
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

    // ---- with the lock held. False: nothing was done. The caller wakes whom it finds in `other`
    // then.
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
        other = sched::claim_first(senders_); // a rendezvous
        if (other) to.emplace(std::move(*sent_by(other)));
        return static_cast<bool>(other);
    }
    static T* sent_by(const sched::claimed& one) noexcept {
        return static_cast<T*>(static_cast<send_request*>(one.entry->data)->value);
    }

    channel_status push_before(T& value, std::int64_t deadline_ns) {
        if (!lock_.lock_now()) [[unlikely]]
            return push_contended(value, deadline_ns);
        if (values_.size() + promised_ < values_.room() && receivers_.empty() &&
            !closed_) { // nearly always
            values_.push(std::move(value));
            lock_.unlock();
            return channel_status::success;
        }
        if (capacity_ != unbounded) return push_or_wait(value, deadline_ns);
        lock_.unlock();
        return push_contended(value, deadline_ns);
    }
    // So that nothing is saved over a call that is hardly ever made.
    [[gnu::noinline]] channel_status push_contended(T& value, std::int64_t deadline_ns) {
        lock_with_room();
        sched::note_contended(this, values_.popped());
        return push_or_wait(value, deadline_ns);
    }
    // As those below: with the lock held, which is free then; out of the way of what needs no other
    // side.
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
        if (!lock_.lock_now()) [[unlikely]]
            return pop_contended(to, deadline_ns);
        if (values_.size() > 0 && senders_.empty()) { // nearly always, where values lie
            to.emplace(values_.pop());
            lock_.unlock();
            return channel_status::success;
        }
        return pop_or_wait(to, deadline_ns);
    }
    [[gnu::noinline]] channel_status pop_contended(std::optional<T>& to, std::int64_t deadline_ns) {
        lock_.lock();
        sched::note_contended(this, values_.popped());
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

    // Outside the lock: what was there before ends here.
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

    // Unbounded channels have room for whoever pushes, and grow outside the lock.
    void lock_with_room() {
        lock_.lock();
        while (capacity_ == unbounded && values_.size() + promised_ >= values_.room()) {
            const std::size_t room = values_.room();
            lock_.unlock();
            grow(room);
            lock_.lock();
        }
    }
    [[gnu::noinline]] void grow(std::size_t room) {
        detail::ring_buffer<T> larger; // freed, or the old one, outside the lock
        larger.reserve(room == 0 ? 16 : 2 * room);
        std::lock_guard guard(lock_);
        if (values_.room() == room) values_.move_to(larger);
    }
    // For a select, which cannot grow it: room for one more value, until the promise is taken back.
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
    std::size_t promised_ = 0; // places kept for selects
};

namespace detail {

// A queue in one piece of memory that is asked for once. Not thread-safe.
template <class T>
class ring_buffer {
public:
    ring_buffer() noexcept = default;
    ring_buffer(const ring_buffer&) = delete;
    ~ring_buffer() {
        while (size_ > 0) (void)pop();
        if (slots_) release(slots_, room_);
    }

    // While empty and without memory. Throws std::bad_alloc.
    void reserve(std::size_t room) {
        if (room == 0) return;
        if (room > SIZE_MAX / 2 / sizeof(T)) throw std::bad_alloc();
        slots_ = acquire(room);
        room_ = room;
    }
    std::size_t size() const noexcept { return size_; }
    std::size_t room() const noexcept { return room_; }
    std::uint64_t popped() const noexcept { return popped_; } // ever; moves included

    void push(T&& value) noexcept {
        std::construct_at(slots_ + wrapped(first_ + size_), std::move(value));
        ++size_;
    }
    T pop() noexcept {
        T* slot = slots_ + first_;
        T value = std::move(*slot);
        std::destroy_at(slot);
        first_ = wrapped(first_ + 1);
        base::prevent_store_merging(first_);
        --size_;
        base::prevent_store_merging(size_);
        ++popped_;
        return value;
    }
    // `other` becomes this one's memory, and this one `other`'s with all values.
    void move_to(ring_buffer& other) noexcept {
        while (size_ > 0) other.push(pop());
        std::swap(slots_, other.slots_);
        std::swap(room_, other.room_);
        std::swap(first_, other.first_);
        std::swap(size_, other.size_);
    }

private:
    static constexpr bool over_aligned = alignof(T) > 16;
    static T* acquire(std::size_t room) {
        if constexpr (over_aligned)
            return static_cast<T*>(::operator new(room * sizeof(T), std::align_val_t{alignof(T)}));
        else
            return static_cast<T*>(sched::take_memory(room * sizeof(T)));
    }
    static void release(T* slots, std::size_t room) noexcept {
        if constexpr (over_aligned)
            ::operator delete(slots, std::align_val_t{alignof(T)});
        else
            sched::give_memory(slots, room * sizeof(T));
    }
    std::size_t wrapped(std::size_t index) const noexcept {
        return index >= room_ ? index - room_ : index;
    }

    T* slots_ = nullptr;
    std::size_t room_ = 0;
    std::size_t first_ = 0;
    std::size_t size_ = 0;
    std::uint64_t popped_ = 0;
};

} // namespace detail

} // namespace sennit
