// SPDX-License-Identifier: Apache-2.0
// Bugs of actors that a reading has found, with the smallest program of each.
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using sennit::exit_reason;

struct number {
    int n;
};
struct fail {};
struct ping {
    using reply = int;
};
template <class M>
using inbox = sennit::actor_ref<sennit::accepts<M>>;

class silence {
public:
    silence() : before_(sennit::set_dead_letter_handler(nullptr)) {}
    ~silence() { sennit::set_dead_letter_handler(before_); }

private:
    sennit::dead_letter_handler before_;
};

// The ends and numbers that the actor receives, in order; ends are negative.
struct listener : sennit::actor<listener, number, sennit::down, ping> {
    explicit listener(std::vector<int>& heard) : heard_(heard) {}
    void on(number m) { heard_.push_back(m.n); }
    void on(const sennit::down& m) { heard_.push_back(-static_cast<int>(m.why) - 1); }
    int on(ping) { return 0; }

private:
    std::vector<int>& heard_;
};
constexpr int told_of(exit_reason why) {
    return -static_cast<int>(why) - 1;
}

// `stop` in a constructor took effect only after the first message.
struct ends_at_birth : sennit::actor<ends_at_birth, number> {
    explicit ends_at_birth(std::vector<int>& heard, bool from_outside) : heard_(heard) {
        self().tell(number{1});
        if (from_outside)
            self().kill();
        else
            stop();
    }
    void on(number m) { heard_.push_back(m.n); }
    void stopped(exit_reason why) { heard_.push_back(told_of(why)); }

private:
    std::vector<int>& heard_;
};
TEST(regress, actor_ends_in_its_constructor) {
    const silence during;
    for (const bool from_outside : {false, true}) {
        std::vector<int> heard, news;
        sennit::actor_group group;
        auto watcher = group.spawn<listener>(news);
        const auto it =
            group.spawn<ends_at_birth>({.watcher = watcher.address()}, heard, from_outside);
        while (it.alive())
            std::this_thread::yield(); // a kill takes effect in the actor's next batch
        it.tell(number{2});
        (void)watcher.ask(ping{}).get();
        EXPECT_EQ(heard, std::vector{told_of(exit_reason::normal)});
        watcher.stop();
        group.join();
        EXPECT_EQ(news, std::vector{told_of(exit_reason::normal)});
        EXPECT_EQ(group.size(), 0u);
    }
}

// The first message was handled in the state before the constructor's choice.
struct off {};
struct on_now {};
struct lamp : sennit::state_machine<lamp, sennit::states<off, on_now>, ping> {
    lamp() { become(on_now{}); }
    int on(off&, ping) { return 0; }
    int on(on_now&, ping) { return 1; }
};
TEST(regress, constructor_chooses_the_state) {
    sennit::actor_group group;
    EXPECT_EQ(group.spawn<lamp>().ask(ping{}).get(), 1);
}

// `join` returned while messages of an ended actor, and the objects that they refer to, still
// existed.
struct left_over {
    std::atomic<int>* left = nullptr;
    std::atomic<bool>* joined = nullptr;
    std::atomic<int>* late = nullptr;
    left_over(std::atomic<int>& counts, std::atomic<bool>& when, std::atomic<int>& too_late)
        : left(&counts), joined(&when), late(&too_late) {}
    left_over(left_over&& other) noexcept
        : left(std::exchange(other.left, nullptr)), joined(other.joined), late(other.late) {}
    ~left_over() {
        if (!left) return;
        for (int i = 0; i < 50 && !joined->load(); ++i)
            std::this_thread::yield(); // the joiner may run
        if (joined->load()) late->fetch_add(1);
        left->fetch_sub(1);
    }
};
struct holder : sennit::actor<holder, ping, std::unique_ptr<left_over>> {
    explicit holder(sennit::event& goes_on) : goes_on_(goes_on) {}
    int on(ping) {
        goes_on_.wait();
        stop();
        return 0;
    }
    void on(std::unique_ptr<left_over>) {}

private:
    sennit::event& goes_on_;
};
TEST(regress, join_waits_for_the_messages_of_ended_actors) {
    const silence during;
    sennit::runtime runtime({.workers = 2});
    std::atomic<int> left{3}, late{0};
    std::atomic<bool> joined{false};
    sennit::event goes_on;
    sennit::actor_group group(runtime);
    const auto it = group.spawn<holder>(goes_on);
    auto answer = it.ask(ping{});
    for (int i = 0; i < 3; ++i) it.tell(std::make_unique<left_over>(left, joined, late));
    goes_on.set();
    group.join();
    EXPECT_EQ(left.load(), 0);
    joined = true;
    EXPECT_EQ(late.load(), 0);
    EXPECT_EQ(answer.get(), 0);
}

// An error counted as reported although the only watcher had ended.
struct failing : sennit::actor<failing, fail, ping> {
    void on(fail) { throw std::runtime_error("as wanted"); }
    int on(ping) { return 1; }
};
TEST(regress, join_throws_an_error_whose_watchers_have_ended) {
    sennit::actor_group group;
    const auto it = group.spawn<failing>();
    for (int i = 0; i < 100; ++i) {
        struct passing : sennit::actor<passing, sennit::down> {
            explicit passing(const sennit::actor_ref<failing>& whom) {
                watch(whom);
                stop();
            }
            void on(const sennit::down&) {}
        };
        (void)group.spawn<passing>(it);
    }
    it.tell(fail{});
    EXPECT_THROW(group.join(), std::runtime_error);
}

// A question failed with `cycle`, although the asked actor had answered and asked back before the
// asker ran again.
struct question {
    inbox<ping> from;
    using reply = int;
};
struct second : sennit::actor<second, question> {
    explicit second(sennit::promise<bool>& asked) : asked_(asked) {}
    void on(question m, sennit::reply_to<int> answer) {
        answer.set(7);
        asked_.set_value(m.from.ask(ping{}, 1h).has_value());
    }

private:
    sennit::promise<bool>& asked_;
};
struct begin {
    using reply = int;
};
struct first : sennit::actor<first, begin, ping> {
    explicit first(sennit::actor_ref<second> whom) : whom_(whom) {}
    int on(begin) { return *whom_.ask(question{self()}, 1h); }
    int on(ping) { return 8; }

private:
    sennit::actor_ref<second> whom_;
};
TEST(regress, actor_that_has_its_answer_is_in_no_cycle) {
    // With one worker `second` asks before `first` runs again.
    sennit::runtime runtime({.workers = 1, .max_spare_workers = 0});
    sennit::promise<bool> asked;
    sennit::actor_group group(runtime);
    const auto a = group.spawn<first>(group.spawn<second>(asked));
    EXPECT_EQ(a.ask(begin{}).get(), 7);
    EXPECT_TRUE(asked.get_future().get());
}

// A link to an actor that had ended with an error did nothing.
TEST(regress, link_to_an_ended_actor_ends_its_maker) {
    sennit::actor_group group;
    const auto gone = group.spawn<failing>();
    gone.tell(fail{});
    EXPECT_THROW(group.join(), std::runtime_error);
    struct linked : sennit::actor<linked, number> {
        explicit linked(sennit::address_of_actor to) { link(to); }
        void on(number) {}
    };
    std::vector<int> news;
    auto watcher = group.spawn<listener>(news);
    const auto it = group.spawn<linked>({.watcher = watcher.address()}, gone.address());
    while (it.alive()) std::this_thread::yield();
    (void)watcher.ask(ping{}).get();
    watcher.stop();
    group.join();
    EXPECT_EQ(news, std::vector{told_of(exit_reason::linked)});
}

// Watchers learned of the end of an actor before they received its messages.
struct last_words : sennit::actor<last_words, number> {
    explicit last_words(const inbox<number>& to) : to_(to) {}
    void on(number m) {
        for (int i = 1; i <= m.n; ++i) to_.tell(number{i});
        stop();
    }
    void stopped(exit_reason) { to_.tell(number{99}); }

private:
    inbox<number> to_;
};
TEST(regress, watcher_learns_of_an_end_after_the_messages) {
    std::vector<int> heard;
    sennit::actor_group group;
    auto watcher = group.spawn<listener>(heard);
    const auto it = group.spawn<last_words>({.watcher = watcher.address()}, watcher);
    it.tell(number{3});
    while (it.alive()) std::this_thread::yield();
    while (group.size() != 1) std::this_thread::yield(); // until its end is complete
    (void)watcher.ask(ping{}).get();
    watcher.stop();
    group.join();
    EXPECT_EQ(heard, (std::vector{1, 2, 3, 99, told_of(exit_reason::normal)}));
}

// A supervisor that received a child twice lost the first of its actors.
TEST(regress, supervisor_keeps_a_child_once) {
    sennit::actor_group group;
    const sennit::child<failing> one;
    EXPECT_THROW((void)sennit::supervise(group, {}, one, one), std::logic_error);
    auto top = sennit::supervise(group, {}, one);
    EXPECT_THROW(top.ask(sennit::add_child{one}).get(), std::logic_error);
    EXPECT_EQ(one.ask(ping{}).get(), 1);
}

} // namespace
