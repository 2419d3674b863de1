// SPDX-License-Identifier: Apache-2.0
// blocking: sennit/blocking.hpp, src/blocking/blocking_pool.cpp. A call runs on a helper's thread
// while its worker goes on.
#include "engine.hpp"
#include "threads.hpp"

#include "sennit/blocking.hpp"
#include "sennit/fiber.hpp"

SIM_SCENARIO_WITHIN(blocking, a_call_sees_and_is_seen, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    one.run([] {
        sim::var<int> data{1};
        const int got = sennit::blocking([&] {
            data = data + 1;
            return data + 40;
        });
        sim::check(got == 42 && data == 2, "what came before is seen there, and what it did here");
    });
}

// The only worker lets the other fiber run, which ends the call.
SIM_SCENARIO_WITHIN(blocking, the_worker_goes_on_meanwhile, .preemptions = 2, .stale_reads = 0) {
    engine one(1);
    one.run([] {
        event gate; // blocks its thread
        sim::var<int> data{0};
        sennit::fiber other([&] {
            data = 1;
            gate.set();
        });
        sennit::blocking([&] { gate.wait(); });
        sim::check(data == 1, "the other has run");
        other.join();
    });
}

// The helper of the first is on its way to sleep when the second call comes, or asleep.
SIM_SCENARIO_WITHIN(blocking, a_helper_is_called_again_or_another_comes, .preemptions = 2,
                    .stale_reads = 0) {
    engine one(1);
    one.run([] {
        sim::var<int> count{0};
        for (int i = 0; i < 2; ++i) sennit::blocking([&] { count = count + 1; });
        sim::check(count == 2, "both have run");
    });
}

SIM_SCENARIO_WITHIN(blocking, what_a_call_throws_arrives, .preemptions = 2, .stale_reads = 1) {
    engine one(1);
    one.run([] {
        bool thrown = false;
        try {
            sennit::blocking([] { throw failure(); });
        } catch (const failure&) {
            thrown = true;
        }
        sim::check(thrown, "by whoever called");
    });
}
