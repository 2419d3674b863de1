// SPDX-License-Identifier: Apache-2.0
// barrier: as std::barrier, for fibers, forked children and OS threads.
//
//     sennit::barrier phase(workers, [&]() noexcept { swap(old_grid, new_grid); });
//     for (int step = 0; step < steps; ++step) {  // in each of the tasks
//         compute_part();
//         phase.arrive_and_wait();
//     }
//
// Use it for a fixed group of tasks that work in phases. For one phase only use `latch`.
//
// Waiting is a point of cancellation: it throws `cancelled`. The arrival of the cancelled caller
// still counts.
#pragma once

#include "sennit/detail/base/check.hpp"
#include "sennit/detail/core/list_awaiter.hpp"
#include "sennit/detail/core/wait.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace sennit {

namespace detail {

struct nothing_on_completion {
    void operator()() const noexcept {}
};

class barrier_core {
public:
    constexpr explicit barrier_core(std::ptrdiff_t expected) noexcept
        : expected_(expected), left_(expected) {
        SENNIT_CHECK(expected >= 0,
                     "[SNT-218] a barrier was made with a negative count; pass 0 or more");
    }
    ~barrier_core();
    barrier_core(const barrier_core&) = delete;

    // The phase in which the caller arrived. `last` says that this arrival completes the phase; the
    // caller must then call `complete`.
    struct arrival {
        std::uint64_t phase;
        bool last;
    };
    arrival arrive(std::ptrdiff_t count, bool drop) noexcept;
    void complete() noexcept;
    void wait(std::uint64_t phase); // blocks until that phase is complete; throws cancelled

    struct awaited { // for tasks
        barrier_core* self;
        std::uint64_t phase;
        bool ready_or_lock() noexcept;
        std::coroutine_handle<> suspend(std::coroutine_handle<> at, std::int64_t deadline_ns);
        bool end_suspension();
    };

private:
    base::spin_lock lock_;
    std::ptrdiff_t expected_;
    std::ptrdiff_t left_;
    std::uint64_t phase_ = 0;
    sched::wait_list waiters_;
};

} // namespace detail

template <class Completion = detail::nothing_on_completion>
class barrier {
    static_assert(std::is_nothrow_invocable_v<Completion&>,
                  "sennit: a barrier's completion must not throw");

public:
    class arrival_token {
        friend class barrier;
        explicit arrival_token(std::uint64_t phase) noexcept : phase_(phase) {}
        std::uint64_t phase_;
    };
    static constexpr std::ptrdiff_t max() noexcept { return PTRDIFF_MAX; }

    // Creates a barrier for `expected` arrivals in each phase. `completion` runs at the end of each
    // phase.
    constexpr explicit barrier(std::ptrdiff_t expected, Completion completion = Completion())
        : core_(expected), completion_(std::move(completion)) {}
    barrier(const barrier&) = delete;

    // Counts `count` arrivals and does not block, except for the completion: the last arrival runs
    // it before any waiter continues. Returns the token for `wait`.
    [[nodiscard]] arrival_token arrive(std::ptrdiff_t count = 1) {
        return arrived(core_.arrive(count, false));
    }
    // Blocks until the phase of `token` is complete. Throws cancelled.
    void wait(arrival_token&& token) const { core_.wait(token.phase_); }
    // Counts one arrival and blocks until the phase is complete. Throws cancelled.
    void arrive_and_wait() { wait(arrive()); }
    // The forms of wait and arrive_and_wait for a task. The arrival is counted by the call, before
    // the await. Throw `cancelled`.
    auto async_wait(arrival_token&& token) const noexcept {
        return sched::list_awaiter(detail::barrier_core::awaited{&core_, token.phase_});
    }
    auto async_arrive_and_wait() { return async_wait(arrive()); }
    // Counts one arrival, and lowers the expected count of all later phases by one. Blocks only for
    // the completion, like arrive.
    void arrive_and_drop() { (void)arrived(core_.arrive(1, true)); }

private:
    arrival_token arrived(detail::barrier_core::arrival how) {
        if (how.last) {
            completion_();
            core_.complete();
        }
        return arrival_token(how.phase);
    }
    mutable detail::barrier_core core_;
    [[no_unique_address]] Completion completion_;
};

} // namespace sennit
