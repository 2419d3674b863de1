// SPDX-License-Identifier: Apache-2.0
#include "sennit/rate_limiter.hpp"

#include "sennit/detail/core/now.hpp"
#include "sennit/this_fiber.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <stdexcept>

namespace sennit {

namespace detail {

token_bucket::token_bucket(const rate_limit& limit, std::int64_t now_ns) noexcept
    : per_ns_(limit.per_second * 1e-9), burst_(static_cast<double>(limit.burst)), tokens_(burst_),
      at_ns_(now_ns) {}

bool token_bucket::take(std::size_t count, std::int64_t now_ns) noexcept {
    if (now_ns > at_ns_) {
        tokens_ = std::min(burst_, tokens_ + static_cast<double>(now_ns - at_ns_) * per_ns_);
        at_ns_ = now_ns;
    }
    // Sums of fractions of a token may be a little too small.
    constexpr double tolerance = 1e-9;
    if (tokens_ + tolerance < static_cast<double>(count)) return false;
    tokens_ -= static_cast<double>(count);
    return true;
}

std::int64_t token_bucket::ready_ns(std::size_t count) const noexcept {
    const double missing = static_cast<double>(count) - tokens_;
    if (missing <= 0) return at_ns_;
    constexpr double longest = 4e18; // 127 years
    return at_ns_ + static_cast<std::int64_t>(std::ceil(std::min(missing / per_ns_, longest)));
}

} // namespace detail

namespace {

rate_limit checked(const rate_limit& limit) {
    if (!(limit.per_second > 0) || !std::isfinite(limit.per_second) || limit.burst == 0)
        throw std::invalid_argument("sennit: [SNT-084] a rate_limit is out of range: per_second "
                                    "must be more than 0 and finite, and burst 1 or more");
    return limit;
}

} // namespace

// A task among the waiting ones, until it has its tokens or gives up.
class rate_limiter::turn {
public:
    explicit turn(rate_limiter& of) noexcept : of_(of) {}
    ~turn() {
        {
            std::lock_guard guard(of_.lock_);
            --of_.waiting_;
        }
        if (first_) of_.first_.release();
    }
    turn(const turn&) = delete;
    void wait_to_be_first() {
        of_.first_.acquire();
        first_ = true;
    }

private:
    rate_limiter& of_;
    bool first_ = false;
};

rate_limiter::rate_limiter(const rate_limit& limit)
    : limit_(checked(limit)), bucket_(limit_, sched::now_ns()) {}

bool rate_limiter::take_or_queue(std::size_t count) noexcept {
    const std::int64_t now = sched::now_ns();
    std::lock_guard guard(lock_);
    if (waiting_ == 0 && bucket_.take(count, now)) return true;
    ++waiting_;
    return false;
}

void rate_limiter::acquire(std::size_t count) {
    if (count > limit_.burst)
        throw std::invalid_argument("sennit: [SNT-085] rate_limiter::acquire asks for more tokens "
                                    "than rate_limit::burst; ask for fewer, or raise the burst");
    if (take_or_queue(count)) return;
    turn mine(*this);
    mine.wait_to_be_first();
    for (;;) {
        std::int64_t ready;
        {
            const std::int64_t now = sched::now_ns();
            std::lock_guard guard(lock_);
            if (bucket_.take(count, now)) return;
            ready = bucket_.ready_ns(count);
        }
        this_fiber::sleep_until(
            std::chrono::steady_clock::time_point(std::chrono::nanoseconds(ready)));
    }
}

bool rate_limiter::try_acquire(std::size_t count) noexcept {
    const std::int64_t now = sched::now_ns();
    std::lock_guard guard(lock_);
    return waiting_ == 0 && bucket_.take(count, now);
}

} // namespace sennit
