// SPDX-License-Identifier: Apache-2.0
// latch: as std::latch, for fibers, forked children and OS threads. Waiting is a point of
// cancellation.
//
//     sennit::latch loaded(2);
//     sennit::fiber first([&] { load_map(); loaded.count_down(); });
//     sennit::fiber second([&] { load_names(); loaded.count_down(); });
//     loaded.wait();
//
// Use it to wait for a number of events that happen once. For repeated phases use `barrier`.
//
// The latch may be destroyed as soon as all waits have returned, of which there must be at least
// one, even while the last count_down has not yet returned.
#pragma once

#include "sennit/detail/base/check.hpp"
#include "sennit/detail/core/list_awaiter.hpp"
#include "sennit/detail/core/wait.hpp"

#include <cstddef>
#include <cstdint>

namespace sennit {

class latch {
public:
    static constexpr std::ptrdiff_t max() noexcept { return PTRDIFF_MAX; }

    // Creates a latch that opens after `expected` counts. A negative number ends the program with a
    // message.
    constexpr explicit latch(std::ptrdiff_t expected) noexcept : left_(expected) {
        SENNIT_CHECK(expected >= 0,
                     "[SNT-215] a latch was made with a negative count; pass 0 or more");
    }
    ~latch();
    latch(const latch&) = delete;
    latch& operator=(const latch&) = delete;

    // Lowers the count by `update`. Never blocks. The program ends with a message when `update` is
    // larger than the remaining count.
    void count_down(std::ptrdiff_t update = 1) noexcept;
    // Returns true if the count is zero. Does not block.
    bool try_wait() const noexcept;
    void wait() const; // blocks until the count is zero; throws cancelled
    // Lowers the count by `update`, then blocks until it is zero. Throws cancelled.
    void arrive_and_wait(std::ptrdiff_t update = 1) {
        count_down(update);
        wait();
    }

    // The forms of wait and arrive_and_wait for a task. The count is lowered by the call, before
    // the await. Throw `cancelled`.
    auto async_wait() const noexcept { return sched::list_awaiter(awaited{this}); }
    auto async_arrive_and_wait(std::ptrdiff_t update = 1) noexcept {
        count_down(update);
        return async_wait();
    }

private:
    struct awaited {
        const latch* self;
        bool ready_or_lock() noexcept;
        std::coroutine_handle<> suspend(std::coroutine_handle<> at, std::int64_t deadline_ns);
        bool end_suspension();
    };
    mutable base::spin_lock lock_; // guards the two members below
    std::ptrdiff_t left_;
    mutable sched::wait_list waiters_;
};

} // namespace sennit
