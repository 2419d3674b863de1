// SPDX-License-Identifier: Apache-2.0
// Fibers between their holder and their end: sennit/detail/core/fiber_block.hpp,
// src/fibers/runtime/fiber_block.cpp.
//
// In the first half, a thread that is not a worker runs the fiber's function directly. So the
// explorer covers only the state word, the lock and the join. The second half uses complete
// runtimes.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/detail/core/cancel_scope.hpp"
#include "sennit/detail/core/fiber_block.hpp"
#include "sennit/detail/core/now.hpp"
#include "sennit/fiber.hpp"
#include "sennit/this_fiber.hpp"

namespace {

using namespace sennit::sched;

struct result_fiber final : fiber_block {
    explicit result_fiber(runtime_core& runtime) : fiber_block(runtime, type, nullptr) {}
    sim::var<int> result{0};
    sim::var<int> holders{0}; // data that the holder keeps in the block

    static void body(fiber_block& block) noexcept { static_cast<result_fiber&>(block).result = 42; }
    static void destroy(fiber_block* block) noexcept {
        auto* me = static_cast<result_fiber*>(block);
        (void)me->result.get(); // the free comes after both accesses
        (void)me->holders.get();
        delete me;
    }
    static constexpr fiber_type type{&body, &destroy, &typeid(int)};

    // Runs the fiber as a worker would.
    void go() { run(this); }

    // The holder frees the block as soon as the join has returned, as the public headers do.
    void check_and_free() {
        sim::check(result == 42, "the write of the fiber is visible");
        dispose();
    }
};

} // namespace

SIM_SCENARIO_WITHIN(fiber, join_races_end, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    auto* block = new result_fiber(one->core());
    sim::thread runner([&] { block->go(); });
    sim::check(block->join({.cancellable = false}) == wake_reason::source, "the fiber has ended");
    block->check_and_free();
    runner.join();
}

SIM_SCENARIO_WITHIN(fiber, join_in_scope_races_end, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    auto* block = new result_fiber(one->core());
    sim::thread runner([&] { block->go(); });
    {
        cancel_scope scope(nullptr);
        in_scope here(scope);
        sim::check(block->join({}) == wake_reason::source, "the fiber has ended");
        block->check_and_free();
    }
    runner.join();
}

// The join is cancelled while the fiber ends, and repeated.
SIM_SCENARIO_WITHIN(fiber, cancelled_join_is_repeated_while_fiber_ends, .preemptions = 2,
                    .stale_reads = 1) {
    engine one(1);
    auto* block = new result_fiber(one->core());
    cancel_scope scope(nullptr);
    sim::thread runner([&] { block->go(); });
    sim::thread canceller([&] { scope.cancel(); });
    {
        in_scope here(scope);
        if (block->join({}) != wake_reason::source) block->join({.cancellable = false});
        block->check_and_free();
    }
    runner.join();
    canceller.join();
}

// The join is cancelled while the fiber ends, and the holder gives the fiber up.
SIM_SCENARIO_WITHIN(fiber, fiber_is_released_after_cancelled_join_while_it_ends, .preemptions = 2,
                    .stale_reads = 1) {
    engine one(1);
    auto* block = new result_fiber(one->core());
    cancel_scope scope(nullptr);
    sim::thread runner([&] { block->go(); });
    sim::thread canceller([&] { scope.cancel(); });
    {
        in_scope here(scope);
        if (block->join({}) == wake_reason::source)
            block->check_and_free();
        else
            block->let_go(); // the explorer would find a leak or a second free
    }
    runner.join();
    canceller.join();
}

SIM_SCENARIO_WITHIN(fiber, release_races_end, .preemptions = 3, .stale_reads = 2) {
    engine one(1);
    auto* block = new result_fiber(one->core());
    sim::thread runner([&] { block->go(); });
    block->holders = 1;
    block->let_go();
    runner.join();
}

// ---- on workers

SIM_SCENARIO_WITHIN(fiber, plain_thread_joins_fiber, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    sim::var<int> data{0};
    sennit::fiber strand({.runtime = &*one}, [&] { data = 42; });
    strand.join();
    sim::check(data == 42, "the write of the fiber is visible");
}

// A thief takes the fiber, or the joiner runs it on its own stack.
SIM_SCENARIO_WITHIN(fiber, fiber_runs_inline_at_join_or_on_another_worker, .preemptions = 2,
                    .stale_reads = 1) {
    engine two(2);
    sim::var<int> runs{0};
    two.run([&] {
        sennit::fiber strand([&] { runs = runs + 1; });
        strand.join();
        sim::check(runs == 1, "the fiber has run once, and its write is visible");
    });
}

// The fiber certainly runs on the other worker. Its joiner suspends, or comes late.
SIM_SCENARIO_WITHIN(fiber, joiner_on_another_worker_waits, .preemptions = 2, .stale_reads = 1) {
    engine two(2);
    event begun;
    sim::var<int> data{0};
    two.run([&] {
        sennit::fiber strand([&] {
            begun.set();
            data = 42;
        });
        // Blocks the thread, so another worker must run the fiber.
        begun.wait();
        strand.join();
        sim::check(data == 42, "the write of the fiber is visible");
    });
}

// The deadline passes immediately; the worker's clock read races the end.
SIM_SCENARIO_WITHIN(fiber, timed_join_races_end, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    one.run([&] {
        auto* block = new result_fiber(one->core());
        sim::thread runner([&] { block->go(); });
        const wake_reason why = block->join({.deadline_ns = now_ns(), .cancellable = false});
        sim::check(why == wake_reason::source || why == wake_reason::timed_out,
                   "no other event ends the join");
        if (why != wake_reason::source) block->join({.cancellable = false});
        block->check_and_free();
        runner.join();
    });
}

SIM_SCENARIO_WITHIN(fiber, detach_on_worker_races_end, .preemptions = 2, .stale_reads = 1) {
    engine two(2);
    event ran;
    two.run([&] {
        sennit::fiber([&] { ran.set(); }).detach();
        ran.wait();
    });
}

// Two fibers that yield to each other exchange places in the queue while a thief steals from it.
SIM_SCENARIO_WITHIN(fiber, two_fibers_yield_while_thief_steals, .preemptions = 2,
                    .stale_reads = 0) {
    engine two(2);
    sim::var<int> a{0}, b{0};
    two.run([&] {
        sennit::fiber other([&] {
            for (int i = 0; i < 2; ++i) {
                a = a + 1;
                sennit::this_fiber::yield();
            }
        });
        for (int i = 0; i < 2; ++i) {
            b = b + 1;
            sennit::this_fiber::yield();
        }
        other.join();
        sim::check(a == 2 && b == 2, "both fibers have taken each step once");
    });
}
