// SPDX-License-Identifier: Apache-2.0
// Stealing of tasks. A thief takes tasks only from a worker that makes no progress; others share
// half of their queue when they are asked (worker::share_half). src/core/README.md, "A worker's own
// queue", has the protocol.
//
// Tested by the explorer's group `run_queue` and tests/unit/core/run_queue_test.cpp.
#include "core/worker/thief.hpp"

#include "core/diagnostics/tracing.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/worker/model_hooks.hpp"
#include "core/worker/worker.hpp"
#include "sys/mutant.hpp"

namespace sennit::sched {

bool thief::steal_tasks(worker& victim) noexcept {
    run_queue::batch stolen;
    const std::uint32_t count =
        victim.queue().steal_half(stolen, [&]() noexcept { hooks::before_queue_steal(victim); });
    if (count == 0) return false;
    me_.runtime().consolidation().abandon(victim.affinity());
    return keep_stolen(stolen) != 0;
}

std::uint32_t thief::steal_ready(worker& victim) noexcept {
    run_queue::batch stolen;
    victim.queue().steal_ready(stolen, [&]() noexcept { hooks::before_queue_steal(victim); });
    return stolen.count == 0 ? 0 : keep_stolen(stolen);
}

std::uint32_t thief::keep_stolen(run_queue::batch& stolen) noexcept {
    const std::uint32_t count = stolen.count;
    me_.counted.tasks_stolen.add(count);
    tracing::emit(trace_kind::steals, nullptr, "from a queue");
    announce_stolen(me_.queue().append_batch(stolen));
    return count;
}

// A stolen batch was out of sight, so a worker that looked meanwhile may have parked for good.
// Also, this worker may run another task first, and for long.
void thief::announce_stolen(std::uint32_t queued) noexcept {
    // As in `posted`, the parking worker's barrier is the processor's half.
    base::compiler_barrier();
    if ((queued == 1 || me_.is_host()) && me_.runtime().has_sentinel()) return;
    if (!SENNIT_MUTANT("wake-up after a steal")) me_.runtime().wake_one();
}

bool thief::steal_from_pinned(worker& victim, bool even_stale) noexcept {
    runnable* item = victim.pinned_queue().pop_soft_affinity(
        [=](runnable& one) noexcept { return even_stale || !hooks::is_stale_wakeup(one); });
    if (!item) return false;
    item->affinity = 0;
    me_.counted.tasks_stolen.add();
    announce_stolen(me_.queue().push_woken(*item));
    return true;
}

} // namespace sennit::sched
