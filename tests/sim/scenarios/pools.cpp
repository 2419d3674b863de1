// SPDX-License-Identifier: Apache-2.0
// Contexts and their stacks: src/core/memory/context_pool.cpp, and the contexts that workers cache.
#include "engine.hpp"

#include "core/memory/context_pool.hpp"

SIM_SCENARIO_WITHIN(pools, context_is_taken_once, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    sennit::sched::context_pool& pool = one->core().contexts();
    sennit::base::atomic<sennit::sched::context*> mine{nullptr};
    sim::thread other([&] { mine.store(&pool.take()); });
    sennit::sched::context& own = pool.take();
    other.join();
    sim::check(mine.load() != &own, "two takers get two contexts");
    pool.give(own);
    pool.give(*mine.load());
}

SIM_SCENARIO_WITHIN(pools, returned_context_is_reused, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    sennit::sched::context_pool& pool = one->core().contexts();
    const std::size_t before = pool.count().made;
    sim::in_threads(2, [&](unsigned) { pool.give(pool.take()); });
    sim::check(pool.count().made <= before + 2 && pool.count().idle == pool.count().made - before,
               "all contexts are returned");
}

// A context that blocks takes a stack. When it ends, the stack is idle again, at whichever worker.
SIM_SCENARIO_WITHIN(pools, blocked_context_returns_stack, .preemptions = 2, .stale_reads = 0) {
    engine two(2);
    two.run(
        [] { sennit::fork_join([] { sennit::sched::yield(); }, [] { sennit::sched::yield(); }); });
    sim::calm_from_here();
    while (two->metrics().stacks_live > 2) sennit::sys::cpu_relax();
}

// More blocked contexts than a worker caches.
SIM_SCENARIO_WITHIN(pools, cached_contexts_overflow_into_shared_pool, .preemptions = 2,
                    .stale_reads = 0) {
    engine one(1);
    one.run([] {
        sennit::scope children;
        for (int i = 0; i < 3; ++i)
            children.spawn([big = std::make_unique<int>(i)] {
                sennit::sched::yield();
                (void)big;
            });
        children.join();
    });
    sim::calm_from_here();
    while (one->metrics().stacks_live > 1) sennit::sys::cpu_relax();
}
