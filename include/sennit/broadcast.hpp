// SPDX-License-Identifier: Apache-2.0
// broadcast: a bounded queue of which each subscriber sees each value.
//
//     sennit::broadcast<price> prices(64);
//     sennit::fiber display([mine = prices.subscribe()]() mutable {
//         while (auto next = mine.pop()) show(*next, next.missed());
//     });
//     prices.publish(price{42});
//
// Use it for events that several tasks follow, each at its own speed. If each value is for one task
// use `channel`; if only the latest value counts use `watch`; if the followers are actors use
// `topic`, which tells each of them. Unlike a channel, `publish` never blocks: a slow subscriber
// loses the oldest values, and learns how many, as in tokio's broadcast.
//
// Guarantees. All subscribers see the values in the order of `publish`, from the moment of their
// subscription. A subscriber that is more than `capacity` values behind continues with the oldest
// value that is left, and `missed()` of that value says how many were lost. The values are shared,
// not copied, so T need not be copyable. A value lives until it was replaced and no item refers to
// it.
// After `close` subscribers get the values that are left, and then the end. Cancellation: pop
// throws `cancelled`. The broadcast must outlive its subscribers. Thread safety: all members may be
// called concurrently; one fiber or thread at a time uses a subscriber. Cost of publish: an
// allocation, a spin lock, and a wake-up for each waiting subscriber.
#pragma once

#include "sennit/channel/detail/value_log.hpp"
#include "sennit/detail/core/deadline.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace sennit {

template <class T>
class broadcast {
    static_assert(std::is_object_v<T> && !std::is_const_v<T>,
                  "sennit: a broadcast carries objects; publish pointers");

public:
    using value_type = T;

    // A value as a subscriber sees it. Empty at the end.
    class item {
    public:
        item() noexcept = default;
        explicit operator bool() const noexcept { return value_ != nullptr; }
        const T& operator*() const noexcept { return *value_; }
        const T* operator->() const noexcept { return value_.get(); }
        // The number of values that this subscriber did not get in time, before this value.
        std::uint64_t missed() const noexcept { return missed_; }
        // Keeps the value beyond the item.
        const std::shared_ptr<const T>& share() const noexcept { return value_; }

    private:
        friend broadcast;
        std::shared_ptr<const T> value_;
        std::uint64_t missed_ = 0;
    };

    // Movable. A default-constructed or moved-from subscriber may only be assigned and destroyed.
    class subscriber {
    public:
        subscriber() noexcept = default;

        // Blocks until the next value is there, and returns it. Returns an empty item when the
        // broadcast is closed and no value is left. Throws `cancelled`.
        item pop() {
            item next;
            (void)read(next, sched::never);
            return next;
        }
        // These write `to` on success only. try_pop does not block: it returns success, empty or
        // closed. The timed forms block until the deadline at most, and may return timeout. All
        // throw `cancelled`.
        channel_status try_pop(item& to) { return read(to, 0); }
        template <class Rep, class Period>
        channel_status pop_for(item& to, const std::chrono::duration<Rep, Period>& duration) {
            return pop_before(to, sched::deadline_in(duration));
        }
        template <class Clock, class Duration>
        channel_status pop_until(item& to, const std::chrono::time_point<Clock, Duration>& when) {
            return sched::wait_until(when, channel_status::timeout,
                                     [&](std::int64_t until) { return pop_before(to, until); });
        }

    private:
        friend broadcast;
        explicit subscriber(detail::value_log& log) noexcept : reader_(log) {}
        // A deadline that has passed still blocks for no time, and gives timeout.
        channel_status pop_before(item& to, std::int64_t deadline_ns) {
            return read(to, deadline_ns > 0 ? deadline_ns : 1);
        }
        channel_status read(item& to, std::int64_t deadline_ns) {
            detail::value_log::value value;
            std::uint64_t missed = 0;
            const channel_status how = reader_.read(value, missed, deadline_ns);
            if (how == channel_status::success) {
                to.value_ = std::static_pointer_cast<const T>(std::move(value));
                to.missed_ = missed;
            }
            return how;
        }
        detail::log_reader reader_;
    };

    // Creates an open broadcast that keeps the last `capacity` values. A capacity of 0 ends the
    // program with a message. Throws std::bad_alloc.
    explicit broadcast(std::size_t capacity) : log_(capacity) {}

    // Sends the value to all subscribers, and returns their number; 0 if the broadcast is closed.
    // Does not block. Throws std::bad_alloc and the exceptions of moving the value.
    std::size_t publish(T value) {
        return log_.publish(std::make_shared<const T>(std::move(value)));
    }
    // Returns a subscriber that sees the values from now on. Does not block.
    [[nodiscard]] subscriber subscribe() noexcept { return subscriber(log_); }
    // Ends the broadcast. Does not block. May be called any number of times.
    void close() noexcept { log_.close(); }
    bool is_closed() const noexcept { return log_.closed(); }
    // The number of subscribers.
    std::size_t size() const noexcept { return log_.readers(); }

private:
    detail::value_log log_;
};

} // namespace sennit
