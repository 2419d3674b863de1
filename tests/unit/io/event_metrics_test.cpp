// SPDX-License-Identifier: Apache-2.0
// runtime_metrics: the counters of events.
#include "support.hpp"

#include <sennit/fiber.hpp>

namespace {

TEST(event_metrics, counters_follow_events_and_waits) {
    sennit::runtime runtime({.workers = 1});
    EXPECT_EQ(runtime.metrics().events, 0u);
    constexpr unsigned rounds = 20;
    runtime.run([] {
        auto [mine, theirs] = io::socket_pair();
        sennit::fiber echo([&from = theirs] {
            for (unsigned i = 0; i < rounds; ++i) from.write(read_text(from, 1));
        });
        for (unsigned i = 0; i < rounds; ++i) {
            mine.write("x");
            EXPECT_EQ(read_text(mine, 1), "x");
        }
        echo.join();
    });
    const sennit::runtime_metrics seen = runtime.metrics();
    // On one worker each read blocks its fiber, and an event ends the wait.
    EXPECT_GE(seen.events, rounds);
    EXPECT_GE(seen.event_polls + seen.event_waits, 1u);
    // A poll takes 64 events at most.
    EXPECT_LE(seen.events, 64 * (seen.event_polls + seen.event_waits));
}

} // namespace
