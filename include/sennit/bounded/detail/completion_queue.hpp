// SPDX-License-Identifier: Apache-2.0
// The type-independent part of as_completed: places for results, which one reader of the input
// fills and one consumer empties.
//
// State of a place: *free*; *taken* by the feeder, which starts a child for it; *done*, with a
// result; *held* by the consumer; then free again. At most `limit` places exist, so the places
// bound the items that were started and not yet consumed.
// Users: the feeder, a fiber that reads the input; the children, each with one place; the consumer.
// All members are guarded by one lock, which no thread holds over user code.
// Tested by tests/unit/bounded/as_completed_test.cpp.
#pragma once

#include "sennit/detail/base/intrusive_queue.hpp"
#include "sennit/detail/core/wait.hpp"
#include "sennit/detail/sys/spin_lock.hpp"

#include <cstddef>

namespace sennit::detail {

struct completion_place : base::list_node {};

class completion_queue {
public:
    explicit completion_queue(std::size_t limit) noexcept;
    completion_queue(const completion_queue&) = delete;

    // Feeder. Blocks until a place is free, and takes it. Null: the caller makes a new place.
    // Throws `cancelled`.
    completion_place* take();
    // Feeder. A child for a taken place will be started; `complete` or `fail` ends it.
    void item_begins() noexcept;
    // Feeder. There are no more elements.
    void input_ends() noexcept;

    // Child. The result is in the place.
    void complete(completion_place& place) noexcept;
    // Child or feeder. An exception is on its way to the nursery. The consumer gets the results
    // that are there, and then null.
    void fail() noexcept;

    // Consumer. Blocks until a result is there, and returns its place. Null: no more results come.
    // Throws `cancelled`.
    completion_place* next();
    // Consumer. The result was destroyed.
    void give_back(completion_place& place) noexcept;

private:
    const std::size_t limit_;
    base::spin_lock lock_; // guards all members below
    base::intrusive_queue<completion_place> free_;
    base::intrusive_queue<completion_place> done_;
    std::size_t made_ = 0;    // places that exist
    std::size_t running_ = 0; // items that began and did not complete
    bool input_ended_ = false;
    bool failed_ = false;
    sched::wait_list feeder_;
    sched::wait_list consumer_;
};

// Calls `fail` unless the scope is left by `succeeded`.
class failure_notice {
public:
    explicit failure_notice(completion_queue& queue) noexcept : queue_(&queue) {}
    ~failure_notice() {
        if (queue_) queue_->fail();
    }
    failure_notice(const failure_notice&) = delete;
    void succeeded() noexcept { queue_ = nullptr; }

private:
    completion_queue* queue_;
};

} // namespace sennit::detail
