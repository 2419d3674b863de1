// SPDX-License-Identifier: Apache-2.0
// Receivers and catchers: addresses for code outside actors.
#include "sennit/receiver.hpp"

#include "sennit/actor.hpp"
#include "sennit/cancelled.hpp"
#include "sennit/catcher.hpp"
#include "sennit/event.hpp"
#include "sennit/fiber.hpp"
#include "sennit/fork_join.hpp"
#include "sennit/with_timeout.hpp"

#include "quiet.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace receiver_tests {
namespace {

using namespace std::chrono_literals;

struct number {
    int n;
};
struct text {
    std::string what;
};
struct start { // makes a talker send `times` numbers to `to`
    int times;
    sennit::any_ref to;
};
struct read {
    using reply = int;
};

struct talker : sennit::actor<talker, start, number> {
    void on(const start& m) {
        for (int i = 1; i <= m.times; ++i) m.to.tell(number{i});
    }
    void on(number m) { sum += m.n; }
    int sum = 0;
};

struct receivers : testing::Test {
    quiet no_letters;
    sennit::runtime runtime{{.workers = 2}};
    sennit::actor_group group{runtime};
    sennit::receiver here{runtime};
    void all_came(std::size_t count) { // waits by count(), which takes no message
        while (here.count() < count) std::this_thread::yield();
        EXPECT_EQ(here.count(), count);
    }
};

TEST_F(receivers, wait_returns_when_actor_has_answered) {
    group.spawn<talker>().tell(start{1, here});
    EXPECT_EQ(here.wait(), 1u);
    EXPECT_EQ(here.count(), 0u);
}

TEST_F(receivers, wait_takes_available_messages_up_to_its_maximum) {
    group.spawn<talker>().tell(start{5, here});
    all_came(5);
    EXPECT_EQ(here.wait(2), 2u);
    EXPECT_EQ(here.wait(2), 2u);
    EXPECT_EQ(here.wait(2), 1u);
    EXPECT_EQ(here.count(), 0u);
}

TEST_F(receivers, wait_for_no_message_returns_immediately) {
    EXPECT_EQ(here.wait(0), 0u);
}

TEST_F(receivers, wait_for_all_waits_for_all_messages) {
    for (int i = 0; i < 10; ++i) group.spawn<talker>().tell(start{10, here});
    here.wait_for_all(100);
    EXPECT_EQ(here.count(), 0u);
}

TEST_F(receivers, wait_returns_zero_at_its_time_limit) {
    EXPECT_EQ(here.wait_for(1ms), 0u);
    EXPECT_EQ(here.wait_until(std::chrono::steady_clock::now() + 1ms, 3), 0u);
    EXPECT_EQ(here.wait_until(std::chrono::steady_clock::now() - 1h), 0u);
    here.ref().tell(number{1});
    EXPECT_EQ(here.wait_for(1h), 1u);
    here.ref().tell(number{1});
    EXPECT_EQ(here.wait_until(std::chrono::system_clock::now() + 1h, 7), 1u);
}

TEST_F(receivers, consume_takes_messages_without_waiting) {
    EXPECT_EQ(here.consume(3), 0u);
    group.spawn<talker>().tell(start{4, here});
    all_came(4);
    EXPECT_EQ(here.consume(3), 3u);
    EXPECT_EQ(here.consume(3), 1u);
    EXPECT_EQ(here.consume(3), 0u);
}

TEST_F(receivers, reset_forgets_arrived_messages) {
    group.spawn<talker>().tell(start{4, here});
    all_came(4);
    here.reset();
    EXPECT_EQ(here.count(), 0u);
    EXPECT_EQ(here.wait_for(1ms), 0u);
}

// ---- handlers

TEST_F(receivers, handlers_return_before_wait_returns) {
    int sum = 0;
    here.add_handler([&](const number& m) { sum += m.n; });
    here.add_handler([&](const number& m) { sum += 100 * m.n; });
    group.spawn<talker>().tell(start{3, here});
    here.wait_for_all(3);
    EXPECT_EQ(sum, 606);
}

TEST_F(receivers, removed_handler_receives_no_more_messages) {
    int sum = 0;
    const auto which = here.add_handler([&](const number& m) { sum += m.n; });
    EXPECT_TRUE(here.has_handler(which));
    here.ref().tell(number{1});
    EXPECT_TRUE(here.remove_handler(which));
    EXPECT_FALSE(here.has_handler(which) || here.remove_handler(which));
    here.ref().tell(number{10});
    here.wait_for_all(2);
    EXPECT_EQ(sum, 1);
}

TEST_F(receivers, handler_may_change_the_handlers) {
    std::string log;
    sennit::handler_id which{};
    which = here.add_handler([&](const number&) {
        log += 'a';
        EXPECT_TRUE(here.remove_handler(which));
        here.add_handler([&](const number&) { log += 'b'; });
    });
    for (int i = 0; i < 3; ++i) here.ref().tell(number{i});
    here.wait_for_all(3);
    EXPECT_EQ(log, "abb");
}

TEST_F(receivers, message_without_handler_is_counted_and_is_no_dead_letter) {
    const auto before = sennit::dead_letters();
    here.ref().tell(text{"x"});
    EXPECT_EQ(here.wait(), 1u);
    EXPECT_EQ(sennit::dead_letters(), before);
}

TEST_F(receivers, default_handler_receives_messages_without_handler) {
    std::string seen;
    here.add_handler([&](const number&) { seen += 'n'; });
    here.set_default_handler([&](const sennit::dead_letter& m) {
        if (const text* t = m.as<text>()) seen += t->what;
    });
    here.ref().tell(text{"x"});
    here.ref().tell(number{1});
    here.wait_for_all(2);
    here.set_default_handler(nullptr);
    here.ref().tell(text{"y"});
    here.wait();
    EXPECT_EQ(seen, "xn");
}

TEST_F(receivers, receiver_answers_question) {
    here.add_handler([](const read&) { return 42; });
    EXPECT_EQ(here.ref().ask(read{}).get(), 42);
    EXPECT_EQ(here.wait(), 1u);
}

TEST_F(receivers, wait_throws_exception_of_handler) {
    here.add_handler([](const number& m) {
        if (m.n != 0) throw std::runtime_error("thrown on purpose");
    });
    here.ref().tell(number{1});
    EXPECT_THROW(here.wait(), std::runtime_error);
    here.ref().tell(number{0});
    here.wait_for_all(2); // takes the first message, too; the receiver still works
}

TEST_F(receivers, add_handler_throws_to_its_caller) {
    struct moved {
        std::unique_ptr<int> n;
    };
    here.add_handler([](moved) {});
    EXPECT_THROW(here.add_handler([](moved) {}), std::logic_error);
    here.ref().tell(moved{});
    EXPECT_EQ(here.wait(), 1u);
}

TEST_F(receivers, handlers_may_change_while_threads_send) {
    int always = 0, sometimes = 0;
    here.add_handler([&](const number&) { ++always; });
    std::vector<std::thread> senders;
    for (int t = 0; t < 3; ++t)
        senders.emplace_back([&] {
            for (int i = 0; i < 300; ++i) here.ref().tell(number{i});
        });
    for (int i = 0; i < 50; ++i) {
        const auto which = here.add_handler([&](const number&) { ++sometimes; });
        EXPECT_TRUE(here.remove_handler(which));
    }
    for (auto& one : senders) one.join();
    here.wait_for_all(900);
    EXPECT_EQ(always, 900);
    EXPECT_LE(sometimes, 900) << "at most one temporary handler exists at a time";
    EXPECT_EQ(here.count(), 0u) << "changes of handlers are not counted";
}

// ---- senders

struct answers : sennit::open_actor<answers> {
    answers() {
        add_handler([](const number& m, sennit::any_ref from) { from.tell(number{m.n + 1}); });
    }
};

TEST_F(receivers, answer_reaches_the_receiver_that_sent_the_message) {
    int got = 0;
    sennit::any_ref from;
    here.add_handler([&](const number& m, sennit::any_ref sender) {
        got = m.n;
        from = sender;
    });
    const auto a = group.spawn<answers>();
    here.tell(a, number{1});
    here.wait();
    EXPECT_EQ(got, 2);
    EXPECT_EQ(from, sennit::any_ref(a));
}

TEST_F(receivers, tell_from_sends_in_the_name_of_another_actor) {
    const auto a = group.spawn<answers>();
    sennit::tell_from(here, a, number{1});
    EXPECT_EQ(here.wait(), 1u);
    const auto before = sennit::dead_letters();
    sennit::tell_from({}, a, number{1}); // has no sender: the answer is a dead letter
    a.stop();
    group.join();
    EXPECT_EQ(sennit::dead_letters(), before + 1);
}

TEST_F(receivers, receiver_sends_to_another_receiver) {
    sennit::receiver there(runtime);
    int got = 0;
    there.add_handler([&](const number& m, sennit::any_ref from) {
        got = m.n;
        from.tell(text{"back"});
    });
    here.tell(there.ref(), number{3});
    there.wait();
    EXPECT_EQ(here.wait(), 1u);
    EXPECT_EQ(got, 3);
}

// ---- callers

TEST_F(receivers, threads_fibers_and_forks_wait_for_receiver) {
    const auto t = group.spawn<talker>();
    const auto one = [&] {
        sennit::receiver mine(runtime);
        t.tell(start{2, mine});
        mine.wait_for_all(2);
        return 1;
    };
    int sum = 0;
    std::thread thread([&] { sum += one(); });
    thread.join();
    sum += runtime.run([&] {
        int inside = 0;
        sennit::fiber fiber([&] { inside = one(); });
        fiber.join();
        auto [left, right] = sennit::fork_join(one, one);
        return inside + left + right + one();
    });
    EXPECT_EQ(sum, 5);
}

TEST_F(receivers, each_message_ends_one_of_several_waits) {
    std::vector<std::thread> waiting;
    for (int i = 0; i < 4; ++i) waiting.emplace_back([&] { EXPECT_EQ(here.wait(), 1u); });
    group.spawn<talker>().tell(start{4, here});
    for (auto& one : waiting) one.join();
    EXPECT_EQ(here.count(), 0u);
}

TEST_F(receivers, cancelled_wait_takes_no_message) {
    runtime.run([&] {
        bool was_cancelled = false;
        const auto wait = [&] {
            try {
                here.wait();
            } catch (const sennit::cancelled&) {
                was_cancelled = true;
                throw;
            }
        };
        EXPECT_THROW(sennit::with_timeout(1ms, wait), sennit::timed_out);
        EXPECT_TRUE(was_cancelled);
    });
    here.ref().tell(number{1});
    EXPECT_EQ(here.wait(), 1u);
}

TEST_F(receivers, receiver_works_on_the_only_worker) {
    sennit::runtime small({.workers = 1});
    const int got = small.run([] {
        sennit::actor_group actors;
        sennit::receiver mine;
        actors.spawn<talker>().tell(start{3, mine});
        mine.wait_for_all(3);
        return 3;
    });
    EXPECT_EQ(got, 3);
}

TEST_F(receivers, message_after_destruction_is_dead_letter) {
    const auto before = sennit::dead_letters();
    sennit::any_ref gone;
    {
        sennit::receiver brief(runtime);
        gone = brief;
        gone.tell(number{1});
        brief.wait();
    }
    EXPECT_FALSE(gone.alive());
    gone.tell(number{1});
    EXPECT_EQ(sennit::dead_letters(), before + 1);
}

// ---- catchers

TEST_F(receivers, catcher_keeps_order_and_senders) {
    sennit::catcher<number> caught(runtime);
    const auto t = group.spawn<talker>();
    t.tell(start{50, caught.ref()});
    for (int i = 1; i <= 50; ++i) {
        const auto one = caught.pop();
        ASSERT_EQ(one.message.n, i);
        ASSERT_EQ(one.from, sennit::any_ref(t));
    }
    EXPECT_TRUE(caught.empty());
}

TEST_F(receivers, catcher_on_receiver_catches_one_type_and_receiver_counts_all) {
    sennit::catcher<number> numbers(here);
    sennit::catcher<text> texts(here);
    here.ref().tell(number{1});
    here.ref().tell(text{"x"});
    here.ref().tell(number{2});
    here.ref().tell(start{0, {}});
    here.wait_for_all(4);
    EXPECT_EQ(numbers.size(), 2u);
    EXPECT_EQ(texts.try_pop()->message.what, "x");
    EXPECT_FALSE(texts.try_pop());
    EXPECT_EQ(numbers.try_pop()->message.n, 1);
    EXPECT_EQ(numbers.pop_for(1h)->message.n, 2);
    EXPECT_FALSE(numbers.pop_for(1ms));
}

TEST_F(receivers, destroyed_catcher_leaves_its_receiver) {
    {
        sennit::catcher<number> numbers(here);
        here.ref().tell(number{1});
        EXPECT_EQ(numbers.pop().message.n, 1);
    }
    here.ref().tell(number{2});
    here.wait_for_all(2);
}

TEST_F(receivers, catcher_accepts_move_only_messages_without_default_constructor) {
    struct odd {
        explicit odd(int given) : n(std::make_unique<int>(given)) {}
        std::unique_ptr<int> n;
    };
    sennit::catcher<odd> caught(runtime);
    caught.ref().tell(odd(1));
    caught.push(odd(2), here);
    const auto one = caught.pop(), other = caught.pop();
    EXPECT_EQ(*one.message.n + *other.message.n, 3);
    EXPECT_TRUE(one.from == here.ref() || other.from == here.ref());
}

TEST_F(receivers, reference_to_catcher_accepts_only_its_messages) {
    sennit::catcher<number> caught(runtime);
    using address = decltype(caught.ref());
    EXPECT_TRUE(address::detail_accepts<number>());
    EXPECT_FALSE(address::detail_accepts<text>());
}

} // namespace
} // namespace receiver_tests
