// SPDX-License-Identifier: Apache-2.0
// The type-independent part of `broadcast` and `watch`: the last values that were published, each
// with a number, and the readers that wait for the next one.
//
// A value is shared, not copied, so that no user code runs under the lock. Value number `n` (from
// 0) lies in slot `n % capacity` until value `n + capacity` replaces it. A reader keeps the number
// of the value that it reads next. A reader that is more than `capacity` values behind continues
// with the oldest value that is left.
// Tested by tests/unit/channel/broadcast_test.cpp and watch_test.cpp.
#pragma once

#include "sennit/channel.hpp"
#include "sennit/detail/core/wait.hpp"
#include "sennit/detail/sys/spin_lock.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace sennit::detail {

class value_log {
public:
    using value = std::shared_ptr<const void>;

    // Throws std::bad_alloc. Ends the program if the capacity is 0.
    explicit value_log(std::size_t capacity);
    // Ends the program if a reader is left.
    ~value_log();
    value_log(const value_log&) = delete;

    // Stores the value as the newest one and wakes the waiting readers. Returns the number of
    // readers, or 0 and stores nothing if the log is closed. Does not block.
    std::size_t publish(value newest) noexcept;
    // No more values come. Wakes the waiting readers.
    void close() noexcept;
    bool closed() const noexcept;
    // The newest value; null: none was published. `*number` becomes the number of the next value.
    value newest(std::uint64_t* number = nullptr) const noexcept;

    // Counts a reader in, and returns the number of the next value. Counts a reader out.
    std::uint64_t add_reader() noexcept;
    void remove_reader() noexcept;
    std::size_t readers() const noexcept;
    // True if value number `next` was published.
    bool has(std::uint64_t next) const noexcept;

    // Reads value number `next`, or the oldest one after it that is left, and sets `next` behind
    // it. `missed` becomes the number of values that were left out. Blocks until there is such a
    // value, but at most until the deadline. Returns success, closed (and no value is left) or
    // timeout. Throws `cancelled`. A deadline of 0 does not block, and gives `empty`.
    channel_status read(std::uint64_t& next, value& to, std::uint64_t& missed,
                        std::int64_t deadline_ns);

private:
    mutable base::spin_lock lock_; // guards all members below
    std::vector<value> slots_;
    std::uint64_t published_ = 0; // the number of the next value
    std::size_t readers_ = 0;
    bool closed_ = false;
    sched::wait_list waiting_;
};

// A counted reader of a log, with its place in it.
class log_reader {
public:
    log_reader() noexcept = default;
    explicit log_reader(value_log& log) noexcept : log_(&log), next_(log.add_reader()) {}
    ~log_reader() {
        if (log_) log_->remove_reader();
    }
    log_reader(log_reader&& other) noexcept
        : log_(std::exchange(other.log_, nullptr)), next_(other.next_) {}
    log_reader& operator=(log_reader&& other) noexcept {
        std::swap(log_, other.log_);
        std::swap(next_, other.next_);
        return *this;
    }

    value_log& log() const noexcept { return *log_; }
    channel_status read(value_log::value& to, std::uint64_t& missed, std::int64_t deadline_ns) {
        return log_->read(next_, to, missed, deadline_ns);
    }
    bool has_more() const noexcept { return log_->has(next_); }
    value_log::value newest() noexcept { return log_->newest(&next_); }

private:
    value_log* log_ = nullptr;
    std::uint64_t next_ = 0;
};

} // namespace sennit::detail
