// SPDX-License-Identifier: Apache-2.0
#include "io/runtime/io_poller.hpp"

#include "core/policy/tuning.hpp"
#include "io/runtime/io_record.hpp"
#include "io/runtime/io_record_table.hpp"
#include "sennit/detail/core/now.hpp"
#include "sennit/detail/core/verbs.hpp"
#include "sys/mutant.hpp"

namespace sennit::sched {

// Streams may outlive their runtime; another one then watches them.
io_poller::~io_poller() {
    if (runtime_.lost_in_fork()) return; // The parent's waiters do not exist here.
    io_record::for_each([this](io_record& one) noexcept { one.detach(*this); });
}

io_poller& io_poller::here() {
    runtime_core* mine = current_runtime();
    runtime_core& where = mine ? *mine : io_runtime_outside();
    where.check_not_lost();
    return static_cast<io_poller&>(
        where.need_events([](runtime_core& of) -> std::unique_ptr<event_source> {
            return std::make_unique<io_poller>(of);
        }));
}

void io_poller::wait(caught_events& into, std::int64_t deadline_ns) noexcept {
    // The explorer would take each of these counts for a choice point. They order nothing.
    if constexpr (!tuning::simulated) waits_.fetch_add_rlx(1); // Orders nothing: a metric.
    into.count = set_.wait(into.events.data(), caught_events::most, deadline_ns, true);
}

// The wake-up of the worker in `wait` is level-triggered and left alone here: that worker may still
// be on its way into `wait`.
void io_poller::take(caught_events& into) noexcept {
    std::uint32_t nobody = 0;
    if (polling_.load_rlx() != 0 || !polling_.cas(nobody, 1)) return; // A hint: the CAS decides.
    into.count = set_.wait(into.events.data(), caught_events::most, 0,
                           SENNIT_MUTANT("a busy poll leaves the wake-up of the poller"));
    if constexpr (!tuning::simulated) polls_.store_rlx(polls_.load_rlx() + 1); // One worker here.
    polling_.store(0);
}

void io_poller::deliver_if_due() noexcept {
    if (tuning::simulated) return; // Time stands still there while a strand can continue.
    const std::int64_t now = now_ns();
    std::uint32_t nobody = 0;
    if (now < next_turn_ns_.load_rlx() || !in_turn_.cas(nobody, 1))
        return;                                        // A hint: the CAS decides.
    next_turn_ns_.store_rlx(now + tuning::io_turn_ns); // Orders nothing: a hint.
    take(caught_in_turn_);
    deliver(caught_in_turn_);
    in_turn_.store(0);
}

void io_poller::deliver(caught_events& from) noexcept {
    count_delivered(from.count);
    if constexpr (!tuning::simulated)
        events_.fetch_add_rlx(from.count); // Orders nothing: a metric.
    for (unsigned i = 0; i < from.count; ++i) {
        const auto [tag, what] = from.events[i];
        event_hook* hook = nullptr;
        {
            wake_ups woken;
            if (io_record* one = io_record::find(tag)) hook = one->deliver(tag, what, woken);
        }
        if (hook) hook->call(*hook, io_wake::ready);
    }
    from.count = 0;
}

bool io_poller::awaited() noexcept {
    bool any = false;
    io_record::for_each([&](io_record& one) noexcept {
        if (any || !one.awaited(*this)) return;
        any = true;
        awaited_last_.store_rlx(&one); // A hint, as in count_added.
    });
    return any;
}

bool io_poller::surely_awaited() noexcept {
    io_record* const one = awaited_last_.load_rlx(); // A hint: the record's lock orders its state.
    return one && one->awaited(*this);
}

} // namespace sennit::sched
