// SPDX-License-Identifier: Apache-2.0
// Events that no thread of the process causes: descriptors that become ready. The core asks for
// them through this interface and knows no descriptor; src/io/runtime/io_poller.hpp implements it.
//
// A runtime has no source until the first descriptor is registered, and uses the source only while
// a descriptor is registered (`active`). One parked worker then waits for events instead of on its
// futex: the poller. src/core/README.md, "Events from outside", has the protocol and its proof.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sys/event_set.hpp"

#include <array>
#include <cstdint>

namespace sennit::sched {

// Events that a worker has taken from the system and not delivered yet.
struct caught_events {
    static constexpr unsigned most = 64; // Events taken at once.
    std::array<sys::descriptor_event, most> events;
    unsigned count = 0;
};

// Figures for runtime_metrics.
struct event_counts {
    std::uint64_t events = 0; // Events that were taken from the system.
    std::uint64_t polls = 0;  // Looks of workers that were awake.
    std::uint64_t waits = 0;  // Waits of a parked worker.
};

class event_source {
public:
    event_source() = default;
    event_source(const event_source&) = delete;
    virtual ~event_source() = default;

    // Any thread. True while an object is registered.
    bool active() const noexcept { return registered_.load() != 0; }
    // Any thread. The number of events delivered so far; a hint.
    std::uint32_t delivered() const noexcept { return delivered_.load_rlx(); } // A hint.

    // The poller: the parked worker that waits for events. At most one worker has the role.
    static constexpr std::uint32_t no_worker = UINT32_MAX;
    bool try_become_poller(std::uint32_t worker) noexcept {
        std::uint32_t none = no_worker;
        return poller_.cas(none, worker);
    }
    bool has_poller() const noexcept { return poller_.load() != no_worker; }
    std::uint32_t poller() const noexcept { return poller_.load(); }
    void release_poller() noexcept { poller_.store(no_worker); }

    // The busy poller: the awake worker that delivered events last. A hint, by which other workers
    // leave events to it. Returns true if a worker other than `worker` is the busy poller.
    bool has_busy_poller_beside(std::uint32_t worker) const noexcept {
        const std::uint32_t busy = busy_poller_.load_rlx(); // A hint: orders nothing.
        return busy != no_worker && busy != worker;
    }
    // The calling worker delivers events.
    void note_delivery(std::uint32_t worker) noexcept {
        if (busy_poller_.load_rlx() != worker) // A hint: orders nothing.
            busy_poller_.store_rlx(worker);
    }
    // The calling worker parks.
    void note_park(std::uint32_t worker) noexcept {
        if (busy_poller_.load_rlx() == worker) // A hint: orders nothing.
            busy_poller_.store_rlx(no_worker);
    }

    // The poller, parked. Blocks until there are events, `wake` is called, or the deadline
    // has come (`never`: none), and takes the events. May return without cause.
    virtual void wait(caught_events& into, std::int64_t deadline_ns) noexcept = 0;
    // Any thread. Ends the poller's `wait`, or its next one.
    virtual void wake() noexcept = 0;
    // A worker that is awake. Takes the events that there are. Takes none if another worker is in
    // this function.
    virtual void take(caught_events& into) noexcept = 0;
    // Any thread. True if a poll would take an event.
    virtual bool pending() noexcept = 0;
    // A worker that is awake. Makes the waiters of these events ready, and empties `from`.
    virtual void deliver(caught_events& from) noexcept = 0;
    // Any thread. True if a strand waits for an event.
    virtual bool awaited() noexcept = 0;
    // Any thread. True only if `awaited` is. Looks at one object: that for which a strand waited at
    // the last `awaited`, or the first one that was registered.
    virtual bool surely_awaited() noexcept { return false; }
    // Any thread.
    virtual event_counts counts() const noexcept { return {}; }

protected:
    // Returns true if no object was registered before.
    bool count_registration() noexcept { return registered_.fetch_add(1) == 0; }
    void count_removal() noexcept { registered_.fetch_sub(1); }
    void count_delivered(unsigned events) noexcept { delivered_.fetch_add_rlx(events); } // A hint.

private:
    base::atomic<std::uint32_t> registered_{0};
    base::atomic<std::uint32_t> delivered_{0};
    base::atomic<std::uint32_t> poller_{no_worker};
    base::atomic<std::uint32_t> busy_poller_{no_worker};
};

} // namespace sennit::sched
