// SPDX-License-Identifier: Apache-2.0
// Fibers between who holds them and their end: sennit/detail/core/fiber_block.hpp,
// src/fibers/runtime/fiber_block.cpp.
//
// In the first half the fiber's function is run by hand, in a thread that is no worker, so that
// nothing but the state word, the lock and the join is explored; the second half has whole
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
    sim::var<int> holders{0}; // what the holder keeps in the block

    static void body(fiber_block& block) noexcept { static_cast<result_fiber&>(block).result = 42; }
    static void destroy(fiber_block* block) noexcept {
        auto* me = static_cast<result_fiber*>(block);
        (void)me->result.get(); // whoever frees it comes after both
        (void)me->holders.get();
        delete me;
    }
    static constexpr fiber_type type{&body, &destroy, &typeid(int)};

    // What a worker would do.
    void go() { run(this); }

    // As the faces do: the holder frees it as soon as the join has returned.
    void check_and_free() {
        sim::check(result == 42, "what the fiber did is seen");
        dispose();
    }
};

} // namespace

SIM_SCENARIO_WITHIN(fiber, is_joined_while_it_ends, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    auto* block = new result_fiber(one->core());
    sim::thread runner([&] { block->go(); });
    sim::check(block->join({.cancellable = false}) == wake_reason::source, "it has ended");
    block->check_and_free();
    runner.join();
}

SIM_SCENARIO_WITHIN(fiber, is_joined_in_a_scope_while_it_ends, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    auto* block = new result_fiber(one->core());
    sim::thread runner([&] { block->go(); });
    {
        cancel_scope scope(nullptr);
        in_scope here(scope);
        sim::check(block->join({}) == wake_reason::source, "it has ended");
        block->check_and_free();
    }
    runner.join();
}

// The join is given up while the fiber ends, and repeated.
SIM_SCENARIO_WITHIN(fiber, a_join_is_cancelled_and_repeated_while_it_ends, .preemptions = 2,
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

// The join is given up while the fiber ends, and the fiber is let go.
SIM_SCENARIO_WITHIN(fiber, a_join_is_cancelled_and_it_is_let_go_while_it_ends, .preemptions = 2,
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
            block->let_go(); // a leak, or a second free, is found
    }
    runner.join();
    canceller.join();
}

SIM_SCENARIO_WITHIN(fiber, is_let_go_while_it_ends, .preemptions = 3, .stale_reads = 2) {
    engine one(1);
    auto* block = new result_fiber(one->core());
    sim::thread runner([&] { block->go(); });
    block->holders = 1;
    block->let_go();
    runner.join();
}

// ---- on workers

SIM_SCENARIO_WITHIN(fiber, is_joined_by_a_plain_thread, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    sim::var<int> data{0};
    sennit::fiber strand({.runtime = &*one}, [&] { data = 42; });
    strand.join();
    sim::check(data == 42, "what the fiber did is seen");
}

// The thief takes it, or the joiner runs it on its own stack.
SIM_SCENARIO_WITHIN(fiber, runs_inline_at_its_join_or_on_another_worker, .preemptions = 2,
                    .stale_reads = 1) {
    engine two(2);
    sim::var<int> runs{0};
    two.run([&] {
        sennit::fiber strand([&] { runs = runs + 1; });
        strand.join();
        sim::check(runs == 1, "it has run once, and that is seen");
    });
}

// It runs on the other worker for certain, and its joiner suspends, or comes late.
SIM_SCENARIO_WITHIN(fiber, is_joined_from_another_worker, .preemptions = 2, .stale_reads = 1) {
    engine two(2);
    event begun;
    sim::var<int> data{0};
    two.run([&] {
        sennit::fiber strand([&] {
            begun.set();
            data = 42;
        });
        begun.wait(); // blocks the thread: somebody else must run it
        strand.join();
        sim::check(data == 42, "what the fiber did is seen");
    });
}

// The time is up at once; the worker's look at the clock races with the end.
SIM_SCENARIO_WITHIN(fiber, a_timed_join_meets_the_end, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    one.run([&] {
        auto* block = new result_fiber(one->core());
        sim::thread runner([&] { block->go(); });
        const wake_reason why = block->join({.deadline_ns = now_ns(), .cancellable = false});
        sim::check(why == wake_reason::source || why == wake_reason::timed_out,
                   "nothing else ends it");
        if (why != wake_reason::source) block->join({.cancellable = false});
        block->check_and_free();
        runner.join();
    });
}

SIM_SCENARIO_WITHIN(fiber, is_detached_on_a_worker_while_it_ends, .preemptions = 2,
                    .stale_reads = 1) {
    engine two(2);
    event ran;
    two.run([&] {
        sennit::fiber([&] { ran.set(); }).detach();
        ran.wait();
    });
}

// Two that yield to each other exchange places in the queue while a thief robs it.
SIM_SCENARIO_WITHIN(fiber, two_yield_while_a_thief_steals, .preemptions = 2, .stale_reads = 0) {
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
        sim::check(a == 2 && b == 2, "both have done all, once");
    });
}
