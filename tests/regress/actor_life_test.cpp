// SPDX-License-Identifier: Apache-2.0
// Bugs of actors that a reading has found, with the smallest program of each.
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace actor_life {
namespace {

using namespace std::chrono_literals;

struct ping {};
struct number {
    using reply = int;
};

// The sender address of a message from an ending actor belonged to no actor yet, and messages to
// that address reached freed memory.
struct farewell {
    std::uint32_t generation;
};
struct says_farewell {
    sennit::actor_ref<sennit::accepts<farewell>> to;
    explicit says_farewell(sennit::actor_ref<sennit::accepts<farewell>> whom) : to(whom) {}
    says_farewell(says_farewell&& other) noexcept : to(std::exchange(other.to, {})) {}
    ~says_farewell() {
        if (to) to.tell(farewell{});
    }
};
struct throws_at : sennit::actor<throws_at, says_farewell, ping> {
    void on(const says_farewell&) { throw 1; }
    void on(ping) { ADD_FAILURE() << "no actor must receive this message"; }
};
TEST(regress, messages_of_an_ending_actor_name_its_own_incarnation) {
    sennit::runtime runtime({.workers = 1});
    sennit::receiver hears(runtime);
    sennit::any_ref from;
    hears.add_handler([&](const farewell&, sennit::any_ref who) { from = who; });
    sennit::actor_group group(runtime);
    auto first = group.spawn<throws_at>();
    const sennit::actor_ref<throws_at> ends = group.spawn<throws_at>();
    first.stop();
    ends.tell(says_farewell(hears.ref()));
    hears.wait();
    EXPECT_EQ(from.address(), ends.address());
    EXPECT_FALSE(from.alive());
    from.tell(ping{});
    EXPECT_THROW(group.join(), int);
}

// An actor of a derived class was constructed in memory of its base class's size.
struct animal : sennit::actor<animal, number, ping> {
    virtual ~animal() = default;
    virtual int on(number) { return 1; }
    void on(ping) { stop(); }
};
struct cat : animal {
    explicit cat(std::atomic<int>& ended) : ended_(ended) {}
    ~cat() override { ++ended_; }
    int on(number) override { return static_cast<int>(name_.size()); }
    std::array<int, 200> room{};

private:
    std::string name_ = "a name that is too long for the string itself";
    std::atomic<int>& ended_;
};
TEST(regress, class_derives_from_a_class_of_actors) {
    std::atomic<int> ended{0};
    sennit::actor_group group;
    const sennit::actor_ref<cat> one = group.spawn<cat>({.name = "tom"}, ended);
    EXPECT_EQ(one.ask(number{}).get(), 45);
    EXPECT_TRUE(group.find<cat>("tom"));
    EXPECT_FALSE(group.find<animal>("tom"));
    one.tell(ping{});
    group.join();
    EXPECT_EQ(ended, 1);
}

// An actor's own members with these names hid the library's members.
struct counts : sennit::actor<counts, ping, number> {
    int handled = 0, end = 0, invoke = 0, find = 0, address = 0, name = 0, group = 0;
    void on(ping) {
        ++handled;
        stop();
    }
    int on(number) { return ++end; }
};
TEST(regress, actors_have_members_of_any_name) {
    sennit::actor_group group;
    const auto one = group.spawn<counts>();
    EXPECT_EQ(one.ask(number{}, 10s).value(), 1);
    one.tell(ping{});
    group.join();
}

// An object that is made before the actor's base was taken for that base, and the actor then
// counted as "made by itself".
struct helper : sennit::actor<helper, ping> {
    void on(ping) {}
};
struct has_number : sennit::actor<has_number, number> {
    int on(number) { return 1; }
};
struct with_helper {
    explicit with_helper(sennit::actor_group& group) : helps(group.spawn<helper>()) {}
    sennit::actor_ref<helper> helps;
};
struct has_helper : with_helper, sennit::actor<has_helper, ping> {
    explicit has_helper(sennit::actor_group& group) : with_helper(group) {}
    void on(ping) { helps.tell(ping{}); }
};
struct makes_one {
    sennit::actor_group& group;
    operator int() const {
        (void)group.spawn<helper>();
        return 1;
    }
};
struct of_number : sennit::actor<of_number, ping> {
    explicit of_number(int) {}
    void on(ping) {}
};
struct throws_late : with_helper, sennit::actor<throws_late, ping> {
    explicit throws_late(sennit::actor_group& group) : with_helper(group) { throw 3; }
    void on(ping) {}
};
TEST(regress, constructor_of_an_actor_makes_another_actor) {
    sennit::actor_group group;
    group.spawn<has_helper>(group).tell(ping{});
    (void)group.spawn<of_number>(makes_one{group});
    EXPECT_THROW((void)group.spawn<throws_late>(group), int);
    EXPECT_EQ(group.size(), 5u);
    EXPECT_THROW(of_number(1), std::logic_error);
}

TEST(regress, spawn_takes_options_from_a_variable) {
    sennit::actor_group group;
    sennit::spawn_options how{.name = "variable"};
    (void)group.spawn<of_number>(how, 1);
    (void)group.spawn<of_number>(sennit::spawn_options{.name = "moved"}, 1);
    EXPECT_TRUE(group.find<of_number>("variable") && group.find<of_number>("moved"));
}

// A mailbox bound of this size acted as no bound, or as a bound of one.
TEST(regress, mailbox_bound_takes_any_number) {
    sennit::runtime runtime({.workers = 1, .max_spare_workers = 0});
    sennit::actor_group group(runtime);
    runtime.run([&] { // the only worker, so nothing is handled meanwhile
        for (const std::uint32_t room : {1u << 30, (1u << 30) + 1, ~0u}) {
            const auto one =
                group.spawn<helper>({.mailbox = room, .overflow = sennit::overflow::fail});
            for (int i = 0; i < 3; ++i) EXPECT_EQ(one.try_tell(ping{}), sennit::send_status::sent);
        }
    });
}

TEST(regress, long_backoff_does_not_wrap) {
    const sennit::backoff waits{.first = 1ms, .most = sennit::forever, .jitter = 0};
    for (const unsigned nth : {40u, 45u, 64u, 2000u}) EXPECT_GT(waits.delay(nth, 0), 24h) << nth;
}

// A cancelled `send` reported a full mailbox, and a cancelled `join` continued to wait.
struct waits_for : sennit::actor<waits_for, ping> {
    explicit waits_for(sennit::event& gate) : gate_(gate) {}
    void on(ping) { gate_.wait(); }

private:
    sennit::event& gate_;
};
TEST(regress, cancellation_ends_send_and_join) {
    sennit::run([] {
        sennit::event gate;
        sennit::actor_group group;
        const auto full = group.spawn<waits_for>({.mailbox = 1}, gate);
        while (full.try_tell(ping{}) == sennit::send_status::sent) sennit::this_fiber::yield();
        EXPECT_THROW(sennit::with_timeout(1ms,
                                          [&] {
                                              // The first message may find room, because the
                                              // handler has begun.
                                              for (;;) (void)full.send(ping{});
                                          }),
                     sennit::timed_out);
        EXPECT_THROW(sennit::with_timeout(1ms, [&] { group.join(); }), sennit::timed_out);
        gate.set();
    });
}

// A handler destroyed the catcher of the same message, and the handler of the destroyed catcher was
// called.
TEST(regress, catcher_ends_in_a_handler_of_its_message) {
    sennit::receiver at;
    std::unique_ptr<sennit::catcher<int>> catches;
    at.add_handler([&](const int&) { catches.reset(); });
    catches = std::make_unique<sennit::catcher<int>>(at);
    at.ref().tell(5);
    at.wait();
    EXPECT_EQ(catches, nullptr);
}

// Messages need not be assignable, but this program did not compile.
TEST(regress, catcher_takes_messages_that_cannot_be_assigned) {
    struct line {
        const int n;
    };
    sennit::catcher<line> lines;
    lines.ref().tell(line{4});
    EXPECT_EQ(lines.pop().message.n, 4);
    lines.push({5});
    lines.push({6});
    EXPECT_EQ(lines.pop_for(1h).value().message.n, 5);
    EXPECT_EQ(lines.try_pop().value().message.n, 6);
    EXPECT_FALSE(lines.try_pop().has_value());
}

// The runtime still took a forwarded question for a question to the actor that had forwarded it.
struct answers : sennit::actor<answers, number> {
    explicit answers(sennit::event& gate) : gate_(gate) {}
    int on(number) {
        gate_.wait();
        return 7;
    }

private:
    sennit::event& gate_;
};
struct first_asker : sennit::actor<first_asker, ping, number> {
    first_asker(sennit::actor_ref<sennit::accepts<number>> whom, std::atomic<int>& got)
        : whom_(whom), got_(got) {}
    void on(ping) { got_ = whom_.ask(number{}, 100s).value(); }
    int on(number) { return 1; }

private:
    sennit::actor_ref<sennit::accepts<number>> whom_;
    std::atomic<int>& got_;
};
struct passes_on : sennit::actor<passes_on, number, sennit::actor_ref<first_asker>> {
    passes_on(sennit::actor_ref<answers> whom, sennit::event& gate, sennit::event& passed,
              sennit::event& asked_back, bool keeps)
        : whom_(whom), gate_(gate), passed_(passed), asked_back_(asked_back), keeps_(keeps) {}
    void on(number m, sennit::reply_to<int> answer) {
        if (keeps_)
            kept_ = std::move(answer);
        else
            forward(whom_, m, std::move(answer));
        passed_.set();
    }
    void on(sennit::actor_ref<first_asker> asker) {
        if (keeps_) gate_.set();
        const auto asked = asker.ask(number{}, keeps_ ? std::chrono::nanoseconds(1ms)
                                                      : std::chrono::nanoseconds(100s));
        EXPECT_TRUE(asked.has_value() || asked.error() == sennit::ask_error::timed_out);
        if (keeps_) kept_.set(7);
        asked_back_.set();
    }

private:
    sennit::actor_ref<answers> whom_;
    sennit::event& gate_;
    sennit::event& passed_;
    sennit::event& asked_back_;
    bool keeps_;
    sennit::reply_to<int> kept_;
};
TEST(regress, actor_that_forwards_a_question_asks_back) {
    for (const bool keeps : {false, true}) {
        sennit::event gate, passed, asked_back;
        std::atomic<int> got{0};
        sennit::actor_group group;
        const auto last = group.spawn<answers>(gate);
        const auto middle = group.spawn<passes_on>(last, gate, passed, asked_back, keeps);
        const auto asker = group.spawn<first_asker>(middle, got);
        asker.tell(ping{});
        passed.wait();
        middle.tell(asker);
        if (!keeps) gate.set();
        while (got == 0) std::this_thread::yield();
        EXPECT_EQ(got, 7);
        // The end of the group would answer the question, too.
        asked_back.wait();
    }
}
// A cycle through the receiver of a forwarded question is still a cycle.
struct asks_first : sennit::actor<asks_first, number, sennit::actor_ref<first_asker>> {
    int on(number) {
        const auto asked = whom_.ask(number{}, 100s);
        return asked.has_value() ? 0 : static_cast<int>(asked.error());
    }
    void on(sennit::actor_ref<first_asker> whom) { whom_ = whom; }

private:
    sennit::actor_ref<first_asker> whom_;
};
struct only_forwards : sennit::actor<only_forwards, number> {
    explicit only_forwards(sennit::actor_ref<asks_first> whom) : whom_(whom) {}
    void on(number m, sennit::reply_to<int> answer) { forward(whom_, m, std::move(answer)); }

private:
    sennit::actor_ref<asks_first> whom_;
};
TEST(regress, runtime_detects_a_cycle_through_a_forwarded_question) {
    std::atomic<int> got{0};
    sennit::actor_group group;
    const auto last = group.spawn<asks_first>();
    const auto asker = group.spawn<first_asker>(group.spawn<only_forwards>(last), got);
    last.tell(asker);
    asker.tell(ping{});
    while (got == 0) std::this_thread::yield();
    EXPECT_EQ(got, static_cast<int>(sennit::ask_error::cycle));
}

// An answer of type ask_error did not compile.
struct why {
    using reply = sennit::ask_error;
};
struct tells_why : sennit::actor<tells_why, why> {
    sennit::ask_error on(why) { return sennit::ask_error::cycle; }
};
TEST(regress, answer_has_type_ask_error) {
    sennit::actor_group group;
    auto answer = group.spawn<tells_why>().ask(why{}, 100s);
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(*answer, sennit::ask_error::cycle);
}

// An exception from `stopped` ended the program.
struct throws_when_stopped : sennit::actor<throws_when_stopped, ping> {
    void on(ping) { stop(); }
    void stopped(sennit::exit_reason) { throw std::runtime_error("not so fast"); }
};
TEST(regress, exception_from_stopped_becomes_the_actors_error) {
    sennit::actor_group group;
    group.spawn<throws_when_stopped>().tell(ping{});
    EXPECT_THROW(group.join(), std::runtime_error);
}

// A question that found no room was answered as if the actor had ended.
TEST(regress, question_reports_a_full_mailbox) {
    sennit::runtime runtime({.workers = 1, .max_spare_workers = 0});
    sennit::actor_group group(runtime);
    runtime.run([&] { // the only worker, so nothing is handled meanwhile
        const auto full =
            group.spawn<has_number>({.mailbox = 1, .overflow = sennit::overflow::fail});
        full.tell(number{});
        EXPECT_EQ(full.ask(number{}, 100s).error(), sennit::ask_error::full);
        try {
            (void)full.ask(number{}).get();
            ADD_FAILURE();
        } catch (const sennit::ask_failed& failed) {
            EXPECT_EQ(failed.why(), sennit::ask_error::full);
        }
    });
}

// Late messages to an ended actor lay in a queue while its slot was bound to another worker. Then
// the runtime waited for them without end, or the new actor ran on the wrong worker.
struct ends_at : sennit::actor<ends_at, number> {
    int on(number) {
        stop();
        return 0;
    }
};
TEST(regress, actors_are_bound_while_other_actors_end) {
    sennit::runtime runtime({.workers = 4, .max_spare_workers = 0});
    std::atomic<int> wrong{0};
    struct asks_where : sennit::actor<asks_where, ping> {
        asks_where(std::thread::id& first, std::atomic<int>& wrong)
            : first_(first), wrong_(wrong) {}
        void on(ping) {
            if (first_ == std::thread::id()) first_ = std::this_thread::get_id();
            if (first_ != std::this_thread::get_id()) ++wrong_;
        }

    private:
        // The thread of that worker. The actors run there only, so the member needs no lock.
        std::thread::id& first_;
        std::atomic<int>& wrong_;
    };
    runtime.run([&] {
        std::array<std::thread::id, 4> threads;
        for (int round = 0; round < 200; ++round) {
            sennit::actor_group group(runtime);
            std::array<sennit::actor_ref<ends_at>, 6> others;
            for (auto& one : others) one = group.spawn<ends_at>();
            sennit::nursery all;
            for (int k = 0; k < 3; ++k)
                all.start([&] {
                    for (int i = 0; i < 40; ++i)
                        others[static_cast<std::size_t>(i) % others.size()].tell(number{});
                });
            all.start([&] {
                for (unsigned i = 0; i < 12; ++i) {
                    const auto one =
                        group.spawn<asks_where>({.worker = i % 4}, threads[i % 4], wrong);
                    for (int k = 0; k < 3; ++k) one.tell(ping{});
                    if (i % 2 != 0) one.stop();
                }
            });
            all.join();
        }
    });
    EXPECT_EQ(wrong, 0);
}

// The dead letters of stashed messages named no receiver.
struct puts_aside : sennit::stashing_actor<puts_aside, ping, number> {
    void on(ping m) { stash(m); }
    int on(number) {
        stop();
        return 0;
    }
};
std::atomic<std::uint32_t> last_receiver{0};
TEST(regress, dead_letters_of_a_stash_name_their_receiver) {
    const auto before = sennit::set_dead_letter_handler(
        [](const sennit::dead_letter& letter) noexcept { last_receiver = letter.receiver.slot; });
    {
        sennit::actor_group group;
        const auto one = group.spawn<puts_aside>();
        one.tell(ping{});
        (void)one.ask(number{}).get();
        group.join();
        EXPECT_EQ(last_receiver, one.address().slot);
    }
    sennit::set_dead_letter_handler(before);
}

} // namespace
} // namespace actor_life
