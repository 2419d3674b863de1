// SPDX-License-Identifier: Apache-2.0
// Compares the timer wheel with a plain list of armed timers.
#include "core/idle/timer_wheel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <vector>

namespace {

using sennit::sched::never;
using sennit::sched::timer;
using sennit::sched::timer_wheel;

constexpr std::int64_t tick = timer_wheel::tick_ns;
constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t year = 365 * 24 * 3600 * second;

// A deadline is due at the first whole tick that is not before it.
std::int64_t due_at(std::int64_t deadline) {
    return (std::max<std::int64_t>(deadline, 0) + tick - 1) / tick * tick;
}

struct one_timer : timer {
    explicit one_timer(std::int64_t deadline) { deadline_ns = deadline; }
};

std::vector<timer*> advance(timer_wheel& wheel, std::int64_t now, std::size_t most = SIZE_MAX,
                            bool* all = nullptr) {
    timer_wheel::list due;
    const bool done = wheel.advance(now, due, most);
    if (all) *all = done;
    std::vector<timer*> out;
    while (timer* one = due.pop_front()) out.push_back(one);
    return out;
}

TEST(timer_wheel, new_wheel_is_empty) {
    timer_wheel wheel(12345);
    EXPECT_EQ(wheel.size(), 0u);
    EXPECT_EQ(wheel.next_event_ns(), never);
    EXPECT_TRUE(advance(wheel, year).empty());
}

TEST(timer_wheel, timer_expires_at_tick_of_its_deadline) {
    for (const std::int64_t deadline :
         {std::int64_t{1}, tick - 1, tick, tick + 1, 63 * tick, 64 * tick, 65 * tick, second,
          3600 * second, year, 100 * year}) {
        timer_wheel wheel(0);
        one_timer one(deadline);
        wheel.insert(one);
        EXPECT_TRUE(one.armed);
        EXPECT_LE(wheel.next_event_ns(), due_at(deadline));
        EXPECT_TRUE(advance(wheel, due_at(deadline) - 1).empty()) << deadline;
        EXPECT_EQ(advance(wheel, due_at(deadline)).size(), 1u) << deadline;
        EXPECT_FALSE(one.armed);
        EXPECT_EQ(wheel.size(), 0u);
        EXPECT_EQ(wheel.next_event_ns(), never);
    }
}

// With few timers, the sleeping thread wakes once, at the earliest deadline. It does not wake at
// the time at which a slot is emptied.
TEST(timer_wheel, next_event_is_earliest_of_few_timers) {
    for (const std::int64_t near : {65 * tick, 100 * tick, second, 3600 * second, year}) {
        timer_wheel wheel(0);
        one_timer first(near), second_one(near + tick), far(2 * near + 5000 * tick);
        wheel.insert(far);
        EXPECT_EQ(wheel.next_event_ns(), due_at(far.deadline_ns));
        wheel.insert(second_one);
        EXPECT_EQ(wheel.next_event_ns(), due_at(second_one.deadline_ns));
        wheel.insert(first);
        EXPECT_EQ(wheel.next_event_ns(), due_at(first.deadline_ns));
        wheel.remove(first);
        EXPECT_EQ(wheel.next_event_ns(), due_at(second_one.deadline_ns));
        EXPECT_EQ(advance(wheel, due_at(second_one.deadline_ns)).size(), 1u);
        EXPECT_EQ(wheel.next_event_ns(), due_at(far.deadline_ns));
        wheel.remove(far);
    }
}

// With many timers, the wheel may name an earlier time, at which it empties their slot. It then
// names such a time again for the timers that remain in that slot.
TEST(timer_wheel, next_event_is_not_after_earliest_of_many_timers) {
    timer_wheel wheel(0);
    std::vector<std::unique_ptr<one_timer>> all;
    for (int i = 0; i < 20; ++i) {
        all.push_back(std::make_unique<one_timer>((100 - i) * tick));
        wheel.insert(*all.back());
        ASSERT_LE(wheel.next_event_ns(), all.back()->deadline_ns);
    }
    std::size_t expired = 0;
    for (int looks = 0; expired < all.size(); ++looks) {
        ASSERT_LT(looks, 40);
        const std::int64_t next = wheel.next_event_ns();
        expired += advance(wheel, next).size();
        if (expired < all.size()) {
            ASSERT_GT(wheel.next_event_ns(), next) << "each look makes progress";
        }
    }
}

TEST(timer_wheel, past_deadline_expires_immediately) {
    timer_wheel wheel(year);
    one_timer past(second), negative(-5), now(year);
    wheel.insert(past);
    wheel.insert(negative);
    EXPECT_EQ(wheel.next_event_ns(), 0);
    EXPECT_EQ(advance(wheel, year).size(), 2u);
    wheel.insert(now);
    EXPECT_EQ(advance(wheel, year + tick).size(), 1u);
}

TEST(timer_wheel, wheel_holds_timer_beyond_its_range) {
    timer_wheel wheel(0);
    one_timer last(std::numeric_limits<std::int64_t>::max() - 1);
    wheel.insert(last);
    EXPECT_TRUE(advance(wheel, 140 * year).empty());
    wheel.remove(last);
    EXPECT_EQ(wheel.size(), 0u);
    EXPECT_EQ(wheel.next_event_ns(), never);
}

TEST(timer_wheel, advance_returns_at_most_given_number) {
    timer_wheel wheel(0);
    std::vector<std::unique_ptr<one_timer>> all;
    for (int i = 0; i < 10; ++i) {
        all.push_back(std::make_unique<one_timer>(i * tick));
        wheel.insert(*all.back());
    }
    bool done = true;
    EXPECT_EQ(advance(wheel, 100 * tick, 4, &done).size(), 4u);
    EXPECT_FALSE(done);
    EXPECT_EQ(wheel.next_event_ns() <= 100 * tick, true) << "some timers are already due";
    wheel.remove(*all[9]);
    EXPECT_EQ(advance(wheel, 100 * tick, 5, &done).size(), 5u);
    EXPECT_EQ(wheel.size(), 0u);
    advance(wheel, 100 * tick, 4, &done);
    EXPECT_TRUE(done);
}

TEST(timer_wheel, timer_is_removed_from_every_level) {
    timer_wheel wheel(7 * second);
    std::vector<std::unique_ptr<one_timer>> all;
    for (std::int64_t ahead = tick; ahead < 140 * year / 8; ahead *= 8)
        for (int i = 0; i < 3; ++i) all.push_back(std::make_unique<one_timer>(7 * second + ahead));
    for (auto& one : all) wheel.insert(*one);
    std::mt19937_64 random(1);
    std::shuffle(all.begin(), all.end(), random);
    for (auto& one : all) {
        wheel.remove(*one);
        EXPECT_FALSE(one->armed);
    }
    EXPECT_EQ(wheel.size(), 0u);
    EXPECT_EQ(wheel.next_event_ns(), never);
    EXPECT_TRUE(advance(wheel, 139 * year).empty());
}

class against_a_list {
public:
    explicit against_a_list(std::uint64_t seed) : random_(seed), now_(far()), wheel_(now_) {}

    void step() {
        switch (below(10)) {
        case 0:
        case 1:
        case 2:
        case 3:
        case 4:
            return insert();
        case 5:
        case 6:
            return remove();
        case 7:
            return advance_to(now_ + far() / 64);
        case 8:
            return advance_to(now_ + static_cast<std::int64_t>(below(200)) * tick / 3);
        default: // To the next event, or just before it.
            if (wheel_.next_event_ns() != never)
                advance_to(
                    std::max(now_, wheel_.next_event_ns() - static_cast<std::int64_t>(below(2))));
        }
    }
    void end() {
        while (!armed_.empty()) advance_to(std::max(now_, wheel_.next_event_ns()));
        EXPECT_EQ(wheel_.size(), 0u);
        EXPECT_EQ(wheel_.next_event_ns(), never);
    }

private:
    std::uint64_t below(std::uint64_t n) { return random_() % n; }
    // Returns a duration between microseconds and a year; all magnitudes are equally likely.
    std::int64_t far() {
        return static_cast<std::int64_t>(random_() % (std::uint64_t{1000} << below(45)));
    }

    void insert() {
        armed_.push_back(std::make_unique<one_timer>(now_ + far() - 1000));
        wheel_.insert(*armed_.back());
        check();
    }
    void remove() {
        if (armed_.empty()) return;
        std::swap(armed_[below(armed_.size())], armed_.back());
        wheel_.remove(*armed_.back());
        EXPECT_FALSE(armed_.back()->armed);
        armed_.pop_back();
        check();
    }
    void advance_to(std::int64_t now) {
        now_ = now;
        const std::size_t most = below(4) == 0 ? 1 + below(3) : SIZE_MAX;
        bool all = false;
        std::int64_t before = std::numeric_limits<std::int64_t>::min();
        for (timer* one : advance(wheel_, now_, most, &all)) {
            ASSERT_LE(one->deadline_ns, now_) << "no timer expires early";
            ASSERT_FALSE(one->armed);
            // Timers that were armed after their deadline expire in the order in which they were
            // armed. All other timers expire in the order of their ticks.
            if (most == SIZE_MAX && one->deadline_ns > last_advance_) {
                ASSERT_LE(before, due_at(one->deadline_ns))
                    << "timers expire in the order of their ticks";
                before = due_at(one->deadline_ns);
            }
            const auto found = std::find_if(armed_.begin(), armed_.end(),
                                            [&](const auto& mine) { return mine.get() == one; });
            ASSERT_NE(found, armed_.end()) << "no timer expires twice, or after its removal";
            std::swap(*found, armed_.back());
            armed_.pop_back();
        }
        if (all)
            for (const auto& one : armed_)
                ASSERT_GT(due_at(one->deadline_ns), now_ / tick * tick) << "no timer is late";
        else
            ASSERT_LE(wheel_.next_event_ns(), now_) << "some timers are already due";
        if (all) last_advance_ = now_;
        check();
    }
    void check() {
        ASSERT_EQ(wheel_.size(), armed_.size());
        std::int64_t earliest = never;
        for (const auto& one : armed_) earliest = std::min(earliest, due_at(one->deadline_ns));
        ASSERT_LE(wheel_.next_event_ns(), std::max<std::int64_t>(earliest, 0));
        ASSERT_EQ(wheel_.next_event_ns() == never, armed_.empty());
    }

    std::mt19937_64 random_;
    std::int64_t now_;
    std::int64_t last_advance_ = now_;
    timer_wheel wheel_;
    std::vector<std::unique_ptr<one_timer>> armed_;
};

TEST(timer_wheel, wheel_agrees_with_list_over_random_operations) {
    const std::uint64_t seed = std::random_device()();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    for (std::uint64_t round = 0; round < 200; ++round) {
        against_a_list pair(seed + round);
        for (int i = 0; i < 500 && !testing::Test::HasFatalFailure(); ++i) pair.step();
        pair.end();
        if (testing::Test::HasFailure()) FAIL() << "seed " << seed << ", round " << round;
    }
}

} // namespace
