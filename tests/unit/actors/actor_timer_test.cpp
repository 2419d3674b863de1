// SPDX-License-Identifier: Apache-2.0
// Messages that come later, and that must not come once they were cancelled.
#include "until.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

namespace actor_timer_tests {
namespace {

using namespace std::chrono_literals;
using actor_tests::held;
using actor_tests::until;
using clock = std::chrono::steady_clock;
using sennit::actor_ref;
using sennit::actor_timer;

struct tick {
    std::shared_ptr<int> load;
};
struct ticks {
    using reply = int;
};
struct repeat {
    std::chrono::nanoseconds period;
    int times;
};

class bell : public sennit::actor<bell, tick, ticks, repeat, held> {
public:
    explicit bell(std::chrono::nanoseconds at_once = -1ns) {
        if (at_once >= 0ns) sennit::tell_after(self(), at_once, tick{});
    }
    void on(tick) {
        if (++seen_ == last_) beat_.cancel();
    }
    int on(ticks) { return seen_; }
    void on(repeat m) {
        last_ = seen_ + m.times;
        beat_ = sennit::tell_every(self(), m.period, tick{});
    }
    void on(const held& m) { m.wait(); }

private:
    int seen_ = 0;
    int last_ = -1;
    actor_timer beat_;
};

struct timers_of_actors : actor_tests::with_actors {
    // Returns when a message with that delay has come: those that were due before it are on their
    // way.
    void let_pass(std::chrono::nanoseconds delay) {
        auto other = group.spawn<bell>();
        sennit::tell_after(other, delay, tick{});
        until([&] { return other.ask(ticks{}).get() == 1; });
        other.stop();
    }
};

TEST_F(timers_of_actors, a_message_comes_later_and_not_early) {
    auto b = group.spawn<bell>();
    const auto begin = clock::now();
    auto alarm = sennit::tell_after(b, 3ms, tick{});
    EXPECT_TRUE(sennit::tell_after(b, 1h, tick{}).pending());
    until([&] { return b.ask(ticks{}).get() == 1; });
    EXPECT_GE(clock::now() - begin, 3ms);
    EXPECT_FALSE(alarm.pending());
    EXPECT_FALSE(alarm.cancel()) << "it has been handled";
}

TEST_F(timers_of_actors, a_delay_that_is_over_is_none) {
    auto b = group.spawn<bell>();
    sennit::tell_after(b, -5s, tick{});
    sennit::tell_after(b, 0s, tick{});
    until([&] { return b.ask(ticks{}).get() == 2; });
}

TEST_F(timers_of_actors, a_cancelled_one_does_not_come) {
    auto b = group.spawn<bell>();
    auto alarm = sennit::tell_after(b, 2ms, tick{});
    int came = 0;
    for (; !alarm.cancel(); ++came) alarm = sennit::tell_after(b, 2ms, tick{}); // on a busy machine
    auto copy = alarm;
    EXPECT_FALSE(copy.cancel()) << "once only";
    EXPECT_FALSE(copy.pending());
    let_pass(4ms);
    EXPECT_EQ(b.ask(ticks{}).get(), came);
}

TEST_F(timers_of_actors, a_cancelled_one_does_not_come_even_when_its_message_waits_in_the_mailbox) {
    auto b = group.spawn<bell>();
    held in_hand;
    b.tell(in_hand);
    in_hand.begun->wait();
    auto once = sennit::tell_after(b, 1ms, tick{});
    auto often = sennit::tell_every(b, 1ms, tick{});
    let_pass(5ms);
    EXPECT_TRUE(once.cancel());
    EXPECT_TRUE(often.cancel());
    in_hand.until->set();
    EXPECT_EQ(b.ask(ticks{}).get(), 0);
    EXPECT_EQ(sennit::metrics_of(b)->handled, 4u) << "both were in the mailbox";
}

TEST_F(timers_of_actors, one_repeats_until_its_own_handler_cancels_it) {
    auto b = group.spawn<bell>();
    b.tell(repeat{100us, 5});
    until([&] { return b.ask(ticks{}).get() >= 5; });
    let_pass(3ms);
    EXPECT_EQ(b.ask(ticks{}).get(), 5);
}

TEST_F(timers_of_actors, a_repeating_one_has_one_message_in_the_mailbox_at_most) {
    auto b = group.spawn<bell>();
    held in_hand;
    b.tell(repeat{100us, 1});
    b.tell(in_hand);
    in_hand.begun->wait();
    let_pass(5ms);
    in_hand.until->set();
    until([&] { return b.ask(ticks{}).get() == 1; });
    let_pass(1ms);
    const auto before = sennit::metrics_of(b)->handled;
    EXPECT_EQ(b.ask(ticks{}).get(), 1);
    EXPECT_EQ(sennit::metrics_of(b)->handled, before + 1) << "cancelled ones came in the mailbox";
}

TEST_F(timers_of_actors, a_mailbox_with_a_bound_does_not_count_them) {
    auto b = group.spawn<bell>({.mailbox = 1, .overflow = sennit::overflow::fail});
    held in_hand;
    b.tell(in_hand);
    in_hand.begun->wait();
    EXPECT_EQ(b.try_tell(tick{}), sennit::send_status::sent);
    sennit::tell_after(b, 0s, tick{});
    let_pass(1ms);
    in_hand.until->set();
    until([&] {
        const auto sum = b.ask(ticks{}, 30s);
        return sum.has_value() && *const_cast<sennit::ask_result<int>&>(sum) == 2;
    });
}

TEST_F(timers_of_actors, an_ended_actors_timers_are_gone_and_are_no_dead_letters) {
    const auto letters = sennit::dead_letters();
    const auto load = std::make_shared<int>(0);
    auto b = group.spawn<bell>();
    auto kept = sennit::tell_after(b, 1h, tick{load});
    sennit::tell_every(b, 1h, tick{load});
    EXPECT_EQ(load.use_count(), 3);
    b.stop();
    group.join();
    EXPECT_FALSE(kept.pending());
    EXPECT_FALSE(kept.cancel());
    kept = {};
    EXPECT_EQ(load.use_count(), 1);
    auto late = sennit::tell_after(b, 0s, tick{load});
    EXPECT_FALSE(late.pending());
    EXPECT_EQ(load.use_count(), 1);
    EXPECT_EQ(sennit::dead_letters(), letters);
}

TEST_F(timers_of_actors, a_constructor_may_arm_one_for_its_own_actor) {
    for (int i = 0; i < 100; ++i) {
        auto b = group.spawn<bell>(0ns);
        until([&] { return b.ask(ticks{}).get() == 1; });
        b.stop();
    }
}

TEST_F(timers_of_actors, a_period_must_be_positive) {
    auto b = group.spawn<bell>();
    EXPECT_THROW(sennit::tell_every(b, 0s, tick{}), std::invalid_argument);
    EXPECT_THROW(sennit::tell_every(b, -1s, tick{}), std::invalid_argument);
    EXPECT_TRUE(sennit::tell_every(b, std::chrono::hours::max(), tick{}).cancel());
    EXPECT_TRUE(sennit::tell_after(b, std::chrono::hours::max(), tick{}).cancel());
}

struct brittle {
    brittle() = default;
    brittle(const brittle&) { throw std::runtime_error("as wanted"); }
    brittle(brittle&&) noexcept = default;
};
struct takes_brittle : sennit::actor<takes_brittle, brittle> {
    void on(const brittle&) { FAIL() << "there is no copy"; }
};
TEST_F(timers_of_actors, a_copy_that_throws_ends_the_receiver) {
    auto t = group.spawn<takes_brittle>();
    auto beat = sennit::tell_every(t, 1us, brittle{});
    EXPECT_THROW(group.join(), std::runtime_error);
    EXPECT_FALSE(beat.pending());
}

// ---- races

struct one_less {};
struct sum_up : sennit::actor<sum_up, one_less, ticks> {
    void on(one_less) { ++seen; }
    int on(ticks) { return seen; }
    int seen = 0;
};

// Each message is handled, or its cancelling said that it would not be.
TEST_F(timers_of_actors, each_is_handled_or_cancelled) {
    constexpr int threads = 3, each = 400;
    auto s = group.spawn<sum_up>();
    std::atomic<int> cancelled{0};
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t)
        all.emplace_back([&, t] {
            std::mt19937 random(static_cast<unsigned>(t) + 1);
            std::vector<actor_timer> armed;
            for (int i = 0; i < each; ++i) {
                armed.push_back(
                    sennit::tell_after(s, std::chrono::microseconds(random() % 300), one_less{}));
                if (random() % 2 != 0 && armed[random() % armed.size()].cancel()) ++cancelled;
            }
        });
    for (auto& one : all) one.join();
    until([&] { return s.ask(ticks{}).get() >= threads * each - cancelled; });
    let_pass(1ms);
    EXPECT_EQ(s.ask(ticks{}).get(), threads * each - cancelled);
}

// Receivers end while timers of theirs are armed, fire, and are cancelled: nothing is left, nothing
// comes twice.
TEST_F(timers_of_actors, ends_race_with_timers) {
    const auto load = std::make_shared<int>(0);
    for (int round = 0; round < 100; ++round) {
        auto b = group.spawn<bell>();
        std::vector<actor_timer> armed;
        std::thread other([&, b] {
            for (int i = 0; i < 10; ++i) sennit::tell_every(b, 20us, tick{load});
            b.stop();
        });
        for (int i = 0; i < 10; ++i)
            armed.push_back(sennit::tell_after(b, std::chrono::microseconds(10 * i), tick{load}));
        for (auto& one : armed) (void)one.cancel();
        other.join();
    }
    group.join();
    until([&] { return load.use_count() == 1; }); // the last turn may still give its mail back
}

} // namespace
} // namespace actor_timer_tests
