// SPDX-License-Identifier: Apache-2.0
// rate_limiter: a token bucket, which lets events happen at most at a given rate in the long run,
// and at most a given number at once.
//
//     sennit::rate_limiter calls({.per_second = 100, .burst = 10});
//     calls.acquire();                       // waits until the next call is due
//     send(request);
//
// Use it to keep within the limits of a server, or to slow down a flood. To limit how many tasks do
// something at the same time use `counting_semaphore` or a `nursery` with a limit. For events at
// fixed times use `ticker`.
//
// The bucket is full at first, and holds at most `burst` tokens. Waiters are served in the order of
// arrival, so a large request is not starved by small ones. `try_acquire` takes nothing while a
// task waits. A waiter that is cancelled has taken nothing, and the next waiter moves up.
// Thread safety: all members may be called concurrently by fibers, forked children and OS threads;
// the object is destroyed when no call is in progress. Cost without waiting: a spin lock and a
// reading of the clock, about 30 ns.
#pragma once

#include "sennit/detail/sys/spin_lock.hpp"
#include "sennit/semaphore.hpp"

#include <cstddef>
#include <cstdint>

namespace sennit {

struct rate_limit {
    double per_second = 0; // tokens that the bucket gets in a second, more than 0
    std::size_t burst = 1; // tokens that the bucket holds, at least 1
};

namespace detail {

// The arithmetic of a token bucket. Times are nanoseconds of one clock. Not thread-safe.
class token_bucket {
public:
    // A full bucket.
    token_bucket(const rate_limit& limit, std::int64_t now_ns) noexcept;
    // Takes `count` tokens if the bucket has them, and returns true.
    bool take(std::size_t count, std::int64_t now_ns) noexcept;
    // The time at which the bucket will have `count` tokens, if no task takes tokens before.
    std::int64_t ready_ns(std::size_t count) const noexcept;

private:
    double per_ns_;
    double burst_;
    double tokens_;
    std::int64_t at_ns_; // the time for which tokens_ holds
};

} // namespace detail

class rate_limiter {
public:
    // Creates a full bucket. Throws std::invalid_argument if the rate is not more than 0 or is not
    // finite, or if the burst is 0.
    explicit rate_limiter(const rate_limit& limit);
    rate_limiter(const rate_limiter&) = delete;
    rate_limiter& operator=(const rate_limiter&) = delete;

    // Blocks until the caller has `count` tokens. Throws `cancelled`, and std::invalid_argument if
    // `count` is more than the burst, because the bucket never holds so many.
    void acquire(std::size_t count = 1);
    // Takes `count` tokens, and returns true, if the bucket has them and no task waits. Does not
    // block.
    bool try_acquire(std::size_t count = 1) noexcept;

    // Returns the limit given to the constructor.
    const rate_limit& limit() const noexcept { return limit_; }

private:
    class turn;
    bool take_or_queue(std::size_t count) noexcept;

    const rate_limit limit_;
    base::spin_lock lock_; // guards the two members below
    detail::token_bucket bucket_;
    std::size_t waiting_ = 0;   // tasks in `acquire` that did not get their tokens at once
    binary_semaphore first_{1}; // of the waiting tasks, the first one has it and watches the clock
};

} // namespace sennit
