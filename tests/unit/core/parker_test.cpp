// SPDX-License-Identifier: Apache-2.0
// The parker: a wait that ends without cause does not keep the worker awake until its deadline.
#include "core/idle/parker.hpp"
#include "sys/clock.hpp"

#include <gtest/gtest.h>

namespace {

using namespace sennit::sched;

constexpr std::int64_t long_ns = 20'000'000'000;

// A source whose waits end at once, with or without an event.
class restless_source final : public event_source {
public:
    explicit restless_source(unsigned events) : events_(events) {}
    void wait(caught_events& into, std::int64_t) noexcept override {
        ++waits;
        into.count = events_;
    }
    void wake() noexcept override { ++wakes; }
    void take(caught_events&) noexcept override {}
    bool pending() noexcept override { return false; }
    void deliver(caught_events&) noexcept override {}
    bool awaited() noexcept override { return false; }
    int waits = 0, wakes = 0;

private:
    unsigned events_;
};

TEST(parker, wait_without_cause_returns_before_the_deadline) {
    parker one;
    restless_source source(0);
    caught_events caught;
    one.announce();
    const std::int64_t deadline = sennit::sys::now_ns() + long_ns;
    EXPECT_FALSE(one.sleep_to(deadline, &source, caught));
    // Without the early return, sleep_to polls the clock until the deadline.
    EXPECT_LT(sennit::sys::now_ns(), deadline);
    EXPECT_EQ(source.waits, 1);
    one.cancel();
}

TEST(parker, event_ends_the_wait_before_the_deadline) {
    parker one;
    restless_source source(1);
    caught_events caught;
    one.announce();
    const std::int64_t deadline = sennit::sys::now_ns() + long_ns;
    EXPECT_FALSE(one.sleep_to(deadline, &source, caught));
    EXPECT_LT(sennit::sys::now_ns(), deadline);
    EXPECT_EQ(caught.count, 1u);
    one.cancel();
}

TEST(parker, notified_parker_does_not_wait_for_events) {
    parker one;
    restless_source source(0);
    caught_events caught;
    one.announce();
    one.notify();
    EXPECT_TRUE(one.sleep_to(sennit::sys::now_ns() + long_ns, &source, caught));
    EXPECT_EQ(source.waits, 0);
    EXPECT_EQ(one.wakes(), 1u);
}

} // namespace
