// SPDX-License-Identifier: Apache-2.0
// A worker's part in consolidation: it gathers tasks that communicate, as long as they run faster
// together. src/core/README.md, "Tasks that communicate", describes the whole.
//
// Which threads run this: the worker's own thread, at each global poll and before it parks.
//
// Tested by tests/unit/core/consolidation_policy_test.cpp, consolidation_test.cpp and the
// explorer's group `consolidation`.
#include "core/policy/consolidation_policy.hpp"
#include "core/policy/tuning.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/worker/worker.hpp"
#include "sennit/detail/sys/spin_lock.hpp"
#include "sys/clock.hpp"

namespace sennit::sched {

bool worker::is_host() const noexcept {
    return runtime_.consolidation().is_host(affinity());
}

// A lock that another thread holds is a crossing, too: the lines of the object cross. Most of these
// crossings meet a lock that is free, which is not seen.
std::uint64_t worker::crossings() const noexcept {
    return counted.crossings() +
           std::uint64_t{tuning::crossings_per_contended_lock} * base::contended_locks();
}

void worker::consolidate() noexcept {
    if (!rules_.consolidates) return;
    consolidation_policy& policy = policies.consolidation;
    if (policy.watching())
        watch_crossings();
    else
        continue_consolidation();
}

// Begins to measure if the tasks of this worker communicate with those of other workers.
void worker::watch_crossings() noexcept {
    consolidation_policy& policy = policies.consolidation;
    if (spare_.is_spare()) return; // It may have to leave at any time.
    if (!policy.window_ends(crossings(), cached_now_ns())) return;
    const std::int64_t now = sys::now_ns();
    if (policy.communicates(crossings(), counted.work_items(), now, cached_now_ns()) &&
        runtime_.consolidation().try_claim(affinity(), now))
        policy.measure(runtime_.work_items(), now);
}

[[gnu::noinline]] void worker::continue_consolidation() noexcept {
    consolidation& shared = runtime_.consolidation();
    consolidation_policy& policy = policies.consolidation;
    if (policy.needs_short_steps()) poll_.shorten(counted.tasks_picked.read());
    const std::int64_t now = sys::now_ns();
    using action = consolidation_policy::action;
    const action next = policy.advance([this] { return runtime_.work_items(); }, now);
    const bool hosts = next != action::wait && next != action::begin_hosting;
    if (hosts && !is_host()) return stop_consolidating(); // A thief has found this worker stuck.
    switch (next) {
    case action::wait:
        return;
    case action::begin_hosting:
        shared.begin_hosting(affinity());
        break;
    case action::gather:
        if (policy.gathers_at(now)) break;
        return;
    case action::keep:
        policy.host_until(now + shared.keep(now), runtime_.work_items(), now);
        break;
    case action::fail:
        shared.fail(now);
        return stop_consolidating();
    case action::end:
        return stop_consolidating();
    }
    policy.gathered(gather(), now);
}

// Takes the ready tasks of all other workers, and what lies in the injector. New tasks stay where
// they are: they have not communicated yet. Returns the number of tasks taken.
std::uint32_t worker::gather() noexcept {
    std::uint32_t found = 0;
    for (unsigned i = 0, all = runtime_.worker_count_with_spares(); i < all; ++i) {
        worker& other = runtime_.worker_at(i);
        if (&other == this) continue;
        found += stealing().steal_ready(other);
        for (unsigned n = 0;
             n < tuning::gathered_at_once && stealing().steal_from_pinned(other, false); ++n)
            ++found;
    }
    for (unsigned n = 0; n < tuning::gathered_at_once; ++n, ++found) {
        runnable* item = runtime_.injector().pop(shared_queue::new_work::not_now);
        if (!item) break;
        counted.tasks_injected.add();
        posted(queue_.push_woken(*item));
    }
    return found;
}

void worker::stop_consolidating() noexcept {
    if (policies.consolidation.watching()) return;
    policies.consolidation.watch(crossings(), counted.work_items(), sys::now_ns());
    runtime_.consolidation().release();
}

} // namespace sennit::sched
