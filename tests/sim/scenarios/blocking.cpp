// SPDX-License-Identifier: Apache-2.0
// blocking: sennit/blocking.hpp, src/blocking/blocking_pool.cpp. A call runs on a pool thread while
// its worker continues.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/blocking.hpp"
#include "sennit/fiber.hpp"

SIM_SCENARIO_WITHIN(blocking, call_and_caller_see_each_other, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    one.run([] {
        sim::var<int> data{1};
        const int got = sennit::blocking([&] {
            data = data + 1;
            return data + 40;
        });
        sim::check(got == 42 && data == 2,
                   "the call sees the caller's writes, and the caller sees those of the call");
    });
}

// The only worker runs the other fiber meanwhile, which ends the call.
SIM_SCENARIO_WITHIN(blocking, worker_continues_during_call, .preemptions = 2, .stale_reads = 0) {
    engine one(1);
    one.run([] {
        event gate; // blocks its thread
        sim::var<int> data{0};
        sennit::fiber other([&] {
            data = 1;
            gate.set();
        });
        sennit::blocking([&] { gate.wait(); });
        sim::check(data == 1, "the other fiber has run");
        other.join();
    });
}

// The pool thread of the first call is about to sleep, or asleep, when the second call comes.
SIM_SCENARIO_WITHIN(blocking, idle_pool_thread_is_reused_or_replaced, .preemptions = 2,
                    .stale_reads = 0) {
    engine one(1);
    one.run([] {
        sim::var<int> count{0};
        for (int i = 0; i < 2; ++i) sennit::blocking([&] { count = count + 1; });
        sim::check(count == 2, "both calls have run");
    });
}

SIM_SCENARIO_WITHIN(blocking, exception_of_call_reaches_caller, .preemptions = 2,
                    .stale_reads = 1) {
    engine one(1);
    one.run([] {
        bool thrown = false;
        try {
            sennit::blocking([] { throw failure(); });
        } catch (const failure&) {
            thrown = true;
        }
        sim::check(thrown, "the caller receives the exception");
    });
}
