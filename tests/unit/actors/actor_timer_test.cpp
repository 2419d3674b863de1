// SPDX-License-Identifier: Apache-2.0
// Timers of actors: their messages arrive later, and not after a successful cancel().
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
    // Returns when a timer message with this delay has been handled. By then, timer messages that
    // were due before it have been sent.
    void let_pass(std::chrono::nanoseconds delay) {
        auto other = group.spawn<bell>();
        sennit::tell_after(other, delay, tick{});
        until([&] { return other.ask(ticks{}).get() == 1; });
        other.stop();
    }
};

TEST_F(timers_of_actors, message_arrives_after_its_delay_and_not_before) {
    auto b = group.spawn<bell>();
    const auto begin = clock::now();
    auto alarm = sennit::tell_after(b, 3ms, tick{});
    EXPECT_TRUE(sennit::tell_after(b, 1h, tick{}).pending());
    until([&] { return b.ask(ticks{}).get() == 1; });
    EXPECT_GE(clock::now() - begin, 3ms);
    EXPECT_FALSE(alarm.pending());
    EXPECT_FALSE(alarm.cancel()) << "the message has been handled";
}

TEST_F(timers_of_actors, delay_of_zero_or_less_sends_immediately) {
    auto b = group.spawn<bell>();
    sennit::tell_after(b, -5s, tick{});
    sennit::tell_after(b, 0s, tick{});
    until([&] { return b.ask(ticks{}).get() == 2; });
}

TEST_F(timers_of_actors, cancelled_message_does_not_arrive) {
    auto b = group.spawn<bell>();
    auto alarm = sennit::tell_after(b, 2ms, tick{});
    int came = 0;
    for (; !alarm.cancel(); ++came) alarm = sennit::tell_after(b, 2ms, tick{}); // fired first
    auto copy = alarm;
    EXPECT_FALSE(copy.cancel()) << "a second cancel has no effect";
    EXPECT_FALSE(copy.pending());
    let_pass(4ms);
    EXPECT_EQ(b.ask(ticks{}).get(), came);
}

TEST_F(timers_of_actors, cancelled_message_is_not_handled_even_if_it_waits_in_mailbox) {
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
    EXPECT_EQ(sennit::metrics_of(b)->handled, 4u) << "both timer messages were in the mailbox";
}

TEST_F(timers_of_actors, timer_repeats_until_its_own_handler_cancels_it) {
    auto b = group.spawn<bell>();
    b.tell(repeat{100us, 5});
    until([&] { return b.ask(ticks{}).get() >= 5; });
    let_pass(3ms);
    EXPECT_EQ(b.ask(ticks{}).get(), 5);
}

TEST_F(timers_of_actors, repeating_timer_has_at_most_one_message_in_mailbox) {
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
    EXPECT_EQ(sennit::metrics_of(b)->handled, before + 1)
        << "cancelled timer messages entered the mailbox";
}

TEST_F(timers_of_actors, bounded_mailbox_does_not_count_timer_messages) {
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

TEST_F(timers_of_actors, end_of_actor_removes_its_timers_without_dead_letters) {
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

TEST_F(timers_of_actors, constructor_may_arm_timer_for_its_own_actor) {
    for (int i = 0; i < 100; ++i) {
        auto b = group.spawn<bell>(0ns);
        until([&] { return b.ask(ticks{}).get() == 1; });
        b.stop();
    }
}

TEST_F(timers_of_actors, tell_every_refuses_period_that_is_not_positive) {
    auto b = group.spawn<bell>();
    EXPECT_THROW(sennit::tell_every(b, 0s, tick{}), std::invalid_argument);
    EXPECT_THROW(sennit::tell_every(b, -1s, tick{}), std::invalid_argument);
    EXPECT_TRUE(sennit::tell_every(b, std::chrono::hours::max(), tick{}).cancel());
    EXPECT_TRUE(sennit::tell_after(b, std::chrono::hours::max(), tick{}).cancel());
}

struct brittle {
    brittle() = default;
    brittle(const brittle&) { throw std::runtime_error("thrown on purpose"); }
    brittle(brittle&&) noexcept = default;
};
struct takes_brittle : sennit::actor<takes_brittle, brittle> {
    void on(const brittle&) { FAIL() << "the message cannot be copied"; }
};
TEST_F(timers_of_actors, message_copy_that_throws_ends_receiver) {
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

// The receiver handles each message, or cancel() returned true for it.
TEST_F(timers_of_actors, each_message_is_handled_or_cancelled) {
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

// Receivers end while their timers are armed, fire, and are cancelled. No message is left over, and
// no message arrives twice.
TEST_F(timers_of_actors, ends_of_actors_race_with_their_timers) {
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
    // The last batch may still be freeing its messages.
    until([&] { return load.use_count() == 1; });
}

} // namespace
} // namespace actor_timer_tests
