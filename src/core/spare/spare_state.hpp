// SPDX-License-Identifier: Apache-2.0
// Whether a worker is a spare worker, and which state a spare worker is in. spare_worker.cpp has
// the states, the transitions and their argument.
//
// Which threads run this: any thread reads. The watchdog and `resize` activate, release and retain
// a spare worker with the registry's lock held. The spare worker's own thread sleeps.
#pragma once

#include "sennit/detail/base/atomic.hpp"

#include <cstdint>

namespace sennit::sched {

class worker;

class spare_state {
public:
    explicit spare_state(bool spare) noexcept : is_spare_(spare) {}

    // True for a spare worker: the watchdog activates one where workers make no progress, and
    // releases it later.
    bool is_spare() const noexcept { return is_spare_; }
    // True if `resize` has retained this spare worker, so the watchdog must not release it.
    bool is_retained() const noexcept { return retained_.load() != 0; }
    // True if the spare worker was told to leave. It works until its current task ends and it reads
    // the order.
    bool deactivation_requested() const noexcept { return is_spare_ && word_.load() != active; }
    // True if the spare worker has emptied its queue and sleeps until it is activated again.
    bool is_inactive() const noexcept {
        const std::uint32_t now = word_.load();
        return is_spare_ && (now == inactive || now == notified);
    }

    void set_retained(bool on) noexcept { retained_.store(on); }
    void activate() noexcept;
    void request_deactivation() noexcept { word_.store(leaving); }
    // Makes an inactive spare worker look into its pinned queue, which holds a task that only this
    // worker may run.
    void notify_inactive() noexcept;

    // The spare worker's own thread. Sleeps until the worker is active again, its pinned queue
    // holds work, or the runtime ends.
    void sleep_inactive(worker& me) noexcept;

private:
    static constexpr std::uint32_t leaving = 0;  // Told to leave; still a worker in every respect.
    static constexpr std::uint32_t active = 1;   // Works.
    static constexpr std::uint32_t inactive = 2; // Sleeps with an empty queue.
    // Inactive, and a task that only this worker may run was posted to it.
    static constexpr std::uint32_t notified = 3;

    base::atomic<std::uint32_t> word_{active};
    base::atomic<std::uint32_t> retained_{0}; // 0 or 1.
    const bool is_spare_;
};

} // namespace sennit::sched
