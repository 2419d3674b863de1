// SPDX-License-Identifier: Apache-2.0
// The poller of a runtime: its set of descriptors, as a source of events for its workers.
//
// It has no thread. src/core/README.md, "Events from outside", says which worker waits in it, and
// when another worker looks.
#pragma once

#include "core/idle/event_source.hpp"
#include "core/runtime/runtime_core.hpp"
#include "sennit/detail/base/atomic.hpp"
#include "sys/event_set.hpp"

#include <cstdint>
#include <memory>
#include <system_error>

namespace sennit::sched {

class io_record;

class io_poller final : public event_source {
public:
    // Throws std::system_error.
    explicit io_poller(runtime_core& runtime) : runtime_(runtime) {}
    ~io_poller() override;

    // The poller of the calling worker's runtime, or of io_runtime_outside. Throws
    // std::system_error, also in a child of fork() that uses its parent's runtime, and
    // std::bad_alloc.
    static io_poller& here();

    // Any thread. Watch a descriptor for the events `what` (bits of sys::event_set). After `add`,
    // `added` must be called without the record's lock.
    std::error_code add(int descriptor, std::uint32_t what, std::uint64_t tag) noexcept {
        return set_.add(descriptor, what, tag);
    }
    std::error_code modify(int descriptor, std::uint32_t what, std::uint64_t tag) noexcept {
        return set_.modify(descriptor, what, tag);
    }
    void remove(int descriptor) noexcept { set_.remove(descriptor); }
    bool count_added(io_record& by) noexcept {
        const bool first = count_registration();
        if (first) awaited_last_.store_rlx(&by); // A hint: surely_awaited looks at the record.
        return first;
    }
    void count_removed() noexcept { count_removal(); }
    runtime_core& runtime() const noexcept { return runtime_; }

    void wait(caught_events& into, std::int64_t deadline_ns) noexcept override;
    void wake() noexcept override { set_.wake(); }
    void take(caught_events& into) noexcept override;
    bool pending() noexcept override { return set_.ready(); }
    void deliver(caught_events& from) noexcept override;
    bool awaited() noexcept override;
    bool surely_awaited() noexcept override;
    // A worker, between two calls of a strand that never waits. Takes and delivers events if that
    // was not done here for tuning::io_turn_ns.
    [[gnu::noinline]] void deliver_if_due() noexcept;
    event_counts counts() const noexcept override {
        return {events_.load_rlx(), polls_.load_rlx(),
                waits_.load_rlx()}; // Order nothing: metrics.
    }

private:
    runtime_core& runtime_;
    sys::event_set set_;
    base::atomic<std::uint32_t> polling_{0};         // 1: a worker is in `take`.
    base::atomic<io_record*> awaited_last_{nullptr}; // For surely_awaited. Records are never freed.
    base::atomic<std::int64_t> next_turn_ns_{0};     // For deliver_if_due.
    base::atomic<std::uint32_t> in_turn_{0};         // 1: a worker is in deliver_if_due.
    caught_events caught_in_turn_; // Guarded by `in_turn_`. On a stack it would cost a page of it.
    base::atomic<std::uint64_t> events_{0}, polls_{0}, waits_{0};
};

} // namespace sennit::sched
