// SPDX-License-Identifier: Apache-2.0
// Receivers and catchers: addresses for code that is no actor.
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
struct start { // answers that many times, to whom the message says
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
    void all_came(std::size_t count) { // and were counted, but not waited for
        while (here.count() < count) std::this_thread::yield();
        EXPECT_EQ(here.count(), count);
    }
};

TEST_F(receivers, a_wait_returns_when_an_actor_has_answered) {
    group.spawn<talker>().tell(start{1, here});
    EXPECT_EQ(here.wait(), 1u);
    EXPECT_EQ(here.count(), 0u);
}

TEST_F(receivers, a_wait_takes_what_is_there_and_not_more_than_it_may) {
    group.spawn<talker>().tell(start{5, here});
    all_came(5);
    EXPECT_EQ(here.wait(2), 2u);
    EXPECT_EQ(here.wait(2), 2u);
    EXPECT_EQ(here.wait(2), 1u);
    EXPECT_EQ(here.count(), 0u);
}

TEST_F(receivers, a_wait_for_nothing_returns_at_once) {
    EXPECT_EQ(here.wait(0), 0u);
}

TEST_F(receivers, a_wait_for_all_waits_for_all) {
    for (int i = 0; i < 10; ++i) group.spawn<talker>().tell(start{10, here});
    here.wait_for_all(100);
    EXPECT_EQ(here.count(), 0u);
}

TEST_F(receivers, a_wait_returns_at_its_limit_with_nothing) {
    EXPECT_EQ(here.wait_for(1ms), 0u);
    EXPECT_EQ(here.wait_until(std::chrono::steady_clock::now() + 1ms, 3), 0u);
    EXPECT_EQ(here.wait_until(std::chrono::steady_clock::now() - 1h), 0u);
    here.ref().tell(number{1});
    EXPECT_EQ(here.wait_for(1h), 1u);
    here.ref().tell(number{1});
    EXPECT_EQ(here.wait_until(std::chrono::system_clock::now() + 1h, 7), 1u);
}

TEST_F(receivers, consume_takes_without_waiting) {
    EXPECT_EQ(here.consume(3), 0u);
    group.spawn<talker>().tell(start{4, here});
    all_came(4);
    EXPECT_EQ(here.consume(3), 3u);
    EXPECT_EQ(here.consume(3), 1u);
    EXPECT_EQ(here.consume(3), 0u);
}

TEST_F(receivers, a_reset_forgets_what_came) {
    group.spawn<talker>().tell(start{4, here});
    all_came(4);
    here.reset();
    EXPECT_EQ(here.count(), 0u);
    EXPECT_EQ(here.wait_for(1ms), 0u);
}

// ---- handlers

TEST_F(receivers, its_handlers_have_returned_when_a_wait_has) {
    int sum = 0;
    here.add_handler([&](const number& m) { sum += m.n; });
    here.add_handler([&](const number& m) { sum += 100 * m.n; });
    group.spawn<talker>().tell(start{3, here});
    here.wait_for_all(3);
    EXPECT_EQ(sum, 606);
}

TEST_F(receivers, a_removed_handler_gets_nothing_more) {
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

TEST_F(receivers, a_handler_may_change_the_handlers) {
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

TEST_F(receivers, what_no_handler_is_there_for_is_counted_and_no_dead_letter) {
    const auto before = sennit::dead_letters();
    here.ref().tell(text{"x"});
    EXPECT_EQ(here.wait(), 1u);
    EXPECT_EQ(sennit::dead_letters(), before);
}

TEST_F(receivers, a_default_handler_gets_what_no_handler_is_there_for) {
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

TEST_F(receivers, a_question_may_be_asked_of_it) {
    here.add_handler([](const read&) { return 42; });
    EXPECT_EQ(here.ref().ask(read{}).get(), 42);
    EXPECT_EQ(here.wait(), 1u);
}

TEST_F(receivers, what_a_handler_throws_comes_out_of_the_wait) {
    here.add_handler([](const number& m) {
        if (m.n != 0) throw std::runtime_error("as wanted");
    });
    here.ref().tell(number{1});
    EXPECT_THROW(here.wait(), std::runtime_error);
    here.ref().tell(number{0});
    here.wait_for_all(2); // the first is still to be taken; it goes on
}

TEST_F(receivers, what_add_handler_throws_reaches_its_caller) {
    struct moved {
        std::unique_ptr<int> n;
    };
    here.add_handler([](moved) {});
    EXPECT_THROW(here.add_handler([](moved) {}), std::logic_error);
    here.ref().tell(moved{});
    EXPECT_EQ(here.wait(), 1u);
}

TEST_F(receivers, handlers_change_while_messages_come_from_everywhere) {
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
    EXPECT_LE(sometimes, 900) << "at most one of them at a time";
    EXPECT_EQ(here.count(), 0u) << "changes are not counted";
}

// ---- senders

struct answers : sennit::open_actor<answers> {
    answers() {
        add_handler([](const number& m, sennit::any_ref from) { from.tell(number{m.n + 1}); });
    }
};

TEST_F(receivers, what_it_sends_is_answered_there) {
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

TEST_F(receivers, a_message_may_be_sent_in_the_name_of_another) {
    const auto a = group.spawn<answers>();
    sennit::tell_from(here, a, number{1});
    EXPECT_EQ(here.wait(), 1u);
    const auto before = sennit::dead_letters();
    sennit::tell_from({}, a, number{1}); // from nobody: so is the answer to it
    a.stop();
    group.join();
    EXPECT_EQ(sennit::dead_letters(), before + 1);
}

TEST_F(receivers, one_receiver_writes_to_another) {
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

// ---- who may use it

TEST_F(receivers, threads_fibers_and_forks_wait_for_it) {
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

TEST_F(receivers, several_may_wait_and_each_message_ends_one_wait) {
    std::vector<std::thread> waiting;
    for (int i = 0; i < 4; ++i) waiting.emplace_back([&] { EXPECT_EQ(here.wait(), 1u); });
    group.spawn<talker>().tell(start{4, here});
    for (auto& one : waiting) one.join();
    EXPECT_EQ(here.count(), 0u);
}

TEST_F(receivers, a_wait_is_cancelled_and_has_taken_nothing) {
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

TEST_F(receivers, it_works_on_the_only_worker) {
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

TEST_F(receivers, what_comes_after_its_end_is_a_dead_letter) {
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

TEST_F(receivers, a_catcher_keeps_the_order_and_the_senders) {
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

TEST_F(receivers, a_catcher_on_a_receiver_catches_one_type_and_the_receiver_counts_all) {
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

TEST_F(receivers, a_catcher_lets_go_of_its_receiver) {
    {
        sennit::catcher<number> numbers(here);
        here.ref().tell(number{1});
        EXPECT_EQ(numbers.pop().message.n, 1);
    }
    here.ref().tell(number{2});
    here.wait_for_all(2);
}

TEST_F(receivers, a_catcher_takes_what_can_only_be_moved_and_what_has_no_default) {
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

TEST_F(receivers, a_catcher_is_an_address_for_its_messages) {
    sennit::catcher<number> caught(runtime);
    using address = decltype(caught.ref());
    EXPECT_TRUE(address::detail_accepts<number>());
    EXPECT_FALSE(address::detail_accepts<text>());
}

} // namespace
} // namespace receiver_tests
