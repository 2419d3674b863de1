// SPDX-License-Identifier: Apache-2.0
// watch: the latest value of something that changes, and a wait for its next change.
//
//     sennit::watch<config> settings(load());
//     sennit::fiber follower([mine = settings.observe()]() mutable {
//         while (auto changed = mine.wait()) apply(*changed);
//     });
//     settings.set(load());
//
// Use it for configuration, progress, state: an observer that is late needs the latest value only.
// If each observer must see each value use `broadcast`; for a value that is set once use
// `shared_future`; for a flag use `event`; for a condition on several variables use `monitored`.
//
// Guarantees. An observer never sees an older value after a newer one, and never sleeps while there
// is a value that it has not seen. Values are shared, not copied, so T need not be copyable; a
// value lives as long as a pointer to it. After `close` observers get the last change, if they have
// not seen it, and then the end. Cancellation: the waits throw `cancelled`. The watch must outlive
// its observers. Thread safety: all members may be called concurrently; one fiber or thread at a
// time uses an observer. Cost of `set`: an allocation, a spin lock, and a wake-up for each waiting
// observer.
#pragma once

#include "sennit/channel/detail/value_log.hpp"
#include "sennit/detail/base/refused.hpp"
#include "sennit/detail/core/deadline.hpp"
#include "sennit/mutex.hpp"

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

namespace sennit {

template <class T>
class watch {
    static_assert(std::is_object_v<T> && !std::is_const_v<T>,
                  "sennit: a watch carries objects; set pointers");

public:
    using value_type = T;
    using pointer = std::shared_ptr<const T>;

    // Movable. A default-constructed or moved-from observer may only be assigned and destroyed.
    class observer {
    public:
        observer() noexcept = default;

        // Blocks until there is a value that this observer has not seen, and returns the latest
        // one. Returns null when the watch is closed and there is no such value. Throws
        // `cancelled`.
        pointer wait() {
            pointer latest;
            (void)wait_before(latest, sched::never);
            return latest;
        }
        // Blocks until `holds(value)` is true for the latest value, and returns that value. Returns
        // null when the watch is closed before. Throws `cancelled` and the exceptions of the
        // predicate.
        template <class P>
            requires std::predicate<P&, const T&>
        pointer wait(P holds) {
            for (pointer latest = get(); latest; latest = wait())
                if (std::invoke(holds, *latest)) return latest;
            return nullptr;
        }
        template <class P>
        base::refused_call wait(P) {
            static_assert(base::refused<P>, "sennit: watch::observer::wait calls the predicate "
                                            "with the value, as a const reference");
            return {};
        }
        // Like wait(), until the deadline at most: writes `to` on success only, and returns
        // success, closed or timeout.
        template <class Rep, class Period>
        channel_status wait_for(pointer& to, const std::chrono::duration<Rep, Period>& duration) {
            return wait_before(to, sched::deadline_in(duration));
        }
        template <class Clock, class Duration>
        channel_status wait_until(pointer& to,
                                  const std::chrono::time_point<Clock, Duration>& when) {
            return sched::wait_until(when, channel_status::timeout,
                                     [&](std::int64_t until) { return wait_before(to, until); });
        }
        // Returns the latest value, which counts as seen. Does not block.
        pointer get() noexcept { return std::static_pointer_cast<const T>(reader_.newest()); }
        // True if there is a value that this observer has not seen. Does not block.
        bool changed() const noexcept { return reader_.has_more(); }

    private:
        friend watch;
        explicit observer(detail::value_log& log) noexcept : reader_(log) {}
        channel_status wait_before(pointer& to, std::int64_t deadline_ns) {
            detail::value_log::value value;
            std::uint64_t missed = 0;
            const channel_status how =
                reader_.read(value, missed, deadline_ns > 0 ? deadline_ns : 1);
            if (how == channel_status::success)
                to = std::static_pointer_cast<const T>(std::move(value));
            return how;
        }
        detail::log_reader reader_;
    };

    // Creates a watch that holds `initial`. Throws std::bad_alloc.
    explicit watch(T initial) : log_(1) { set(std::move(initial)); }

    // Replaces the value. Blocks only while another thread is inside `update`. Does nothing once
    // the watch is closed. Throws std::bad_alloc and the exceptions of moving the value.
    void set(T value) {
        auto fresh = std::make_shared<const T>(std::move(value));
        std::lock_guard guard(writers_);
        (void)log_.publish(std::move(fresh));
    }
    // Replaces the value by `change(value)`; no other change comes in between. Throws like set, and
    // the exceptions of the function, after which the value is unchanged.
    template <class F>
        requires std::is_invocable_r_v<T, F&, const T&>
    void update(F&& change) {
        std::lock_guard guard(writers_);
        (void)log_.publish(std::make_shared<const T>(std::invoke(change, *get())));
    }
    template <class F>
    base::refused_call update(F&&) {
        static_assert(base::refused<F>, "sennit: watch::update calls the function with the value, "
                                        "as a const reference, and stores the result");
        return {};
    }
    // Returns the latest value. Does not block.
    pointer get() const noexcept { return std::static_pointer_cast<const T>(log_.newest()); }

    // Returns an observer that has seen the present value. Does not block.
    [[nodiscard]] observer observe() noexcept { return observer(log_); }
    // No more changes come. Does not block. May be called any number of times.
    void close() noexcept { log_.close(); }
    bool is_closed() const noexcept { return log_.closed(); }

private:
    detail::value_log log_;
    mutex writers_; // orders the changes
};

} // namespace sennit
