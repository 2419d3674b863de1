// SPDX-License-Identifier: Apache-2.0
// Actors that stash messages for later, and state machines.
#include "until.hpp"

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace stash_tests {
namespace {

using sennit::actor_ref;

struct word {
    std::string text;
};
struct open_up {};
struct close_down {};
struct twice {};
struct all {
    using reply = std::string;
};
struct question {
    using reply = std::string;
    std::string text;
};
struct leave {};

// Stashes words and questions until it is open.
class gate : public sennit::stashing_actor<gate, word, open_up, close_down, twice, all, question,
                                           leave, actor_tests::held> {
public:
    explicit gate(std::size_t most = 100) : stashing_actor(most) {}
    void on(word m) {
        if (!open_) return stash(std::move(m));
        if (m.text == "shut") open_ = false;
        if (m.text == "end") stop();
        if (m.text == "fail") throw std::runtime_error("thrown on purpose");
        heard_ += m.text + " ";
    }
    void on(open_up) {
        open_ = true;
        unstash_all();
    }
    void on(close_down) { open_ = false; }
    void on(twice) {
        unstash_all();
        unstash_all();
    }
    std::string on(all) { return heard_ + "(" + std::to_string(stashed()) + ")"; }
    void on(question m, sennit::reply_to<std::string> answer) {
        if (!open_) return stash(std::move(m), std::move(answer));
        answer.set(heard_ + m.text);
    }
    void on(leave) { stop(); }
    void on(const actor_tests::held& m) { m.wait(); }

private:
    bool open_ = false;
    std::string heard_;
};

using stashing = actor_tests::with_actors;

TEST_F(stashing, unstash_all_returns_messages_in_order) {
    auto g = group.spawn<gate>();
    for (const char* text : {"a", "b", "c"}) g.tell(word{text});
    EXPECT_EQ(g.ask(all{}).get(), "(3)");
    g.tell(open_up{});
    g.tell(word{"d"});
    EXPECT_EQ(g.ask(all{}).get(), "a b c d (0)");
}

TEST_F(stashing, unstashed_messages_come_before_messages_in_mailbox) {
    auto g = group.spawn<gate>();
    for (const char* text : {"a", "b"}) g.tell(word{text});
    EXPECT_EQ(g.ask(all{}).get(), "(2)");
    actor_tests::held in_hand;
    g.tell(in_hand);
    in_hand.begun->wait();
    g.tell(open_up{});
    for (int i = 0; i < 30; ++i) g.tell(word{std::to_string(i)});
    in_hand.until->set(); // one batch takes all these messages
    const std::string heard = g.ask(all{}).get();
    EXPECT_EQ(heard.substr(0, 8), "a b 0 1 ");
}

TEST_F(stashing, message_that_is_stashed_again_keeps_its_place) {
    auto g = group.spawn<gate>();
    for (const char* text : {"a", "shut", "b", "c"}) g.tell(word{text});
    g.tell(open_up{}); // the word `shut` closes the gate again
    g.tell(word{"d"});
    EXPECT_EQ(g.ask(all{}).get(), "a shut (3)");
    g.tell(open_up{});
    EXPECT_EQ(g.ask(all{}).get(), "a shut b c d (0)");
}

TEST_F(stashing, stash_keeps_question_with_its_reply) {
    auto g = group.spawn<gate>();
    auto wanted = g.ask(question{"?"});
    g.tell(word{"a"});
    g.tell(open_up{});
    EXPECT_EQ(wanted.get(), "?");
    g.tell(close_down{});
    g.tell(question{"told, not asked"});
    EXPECT_EQ(g.ask(all{}).get(), "a (1)");
    g.tell(open_up{});
    EXPECT_EQ(g.ask(all{}).get(), "a (0)");
}

TEST_F(stashing, unstash_all_of_empty_stash_has_no_effect) {
    auto g = group.spawn<gate>();
    g.tell(twice{});
    g.tell(word{"a"});
    g.tell(twice{}); // stashes the word again
    EXPECT_EQ(g.ask(all{}).get(), "(1)");
}

TEST_F(stashing, full_stash_ends_its_actor_with_stash_full) {
    auto g = group.spawn<gate>(2u);
    auto asked = g.ask(question{"one"});
    g.tell(word{"two"});
    g.tell(word{"three"});
    EXPECT_THROW(group.join(), sennit::stash_full);
    EXPECT_THROW(asked.get(), sennit::ask_failed);
}

TEST_F(stashing, actor_may_survive_full_stash) {
    struct cautious : sennit::stashing_actor<cautious, word, all> {
        cautious() : stashing_actor(1) {}
        void on(word m) {
            try {
                stash(std::move(m));
            } catch (const sennit::stash_full&) {
                ++lost;
            }
        }
        std::string on(all) { return std::to_string(lost) + "/" + std::to_string(stashed()); }
        int lost = 0;
    };
    const auto letters = sennit::dead_letters();
    auto c = group.spawn<cautious>();
    for (int i = 0; i < 3; ++i) c.tell(word{"x"});
    EXPECT_EQ(c.ask(all{}).get(), "2/1");
    EXPECT_EQ(sennit::dead_letters(), letters + 2);
}

// The actor ends with a message in its stash, or while unstashed messages still wait for their
// handlers.
TEST_F(stashing, messages_that_an_ended_actor_holds_are_dead_letters) {
    for (const char* last : {"end", "fail"}) {
        const auto letters = sennit::dead_letters();
        auto g = group.spawn<gate>();
        g.tell(word{"a"});
        g.tell(word{last});
        g.tell(word{"b"});
        auto asked = g.ask(question{"?"});
        g.tell(open_up{});
        EXPECT_THROW(asked.get(), sennit::ask_failed);
        actor_tests::until([&] { return sennit::dead_letters() == letters + 2; });
    }
    auto g = group.spawn<gate>();
    auto asked = g.ask(question{"?"});
    g.tell(leave{});
    EXPECT_THROW(asked.get(), sennit::ask_failed);
    EXPECT_THROW(group.join(), std::runtime_error);
}

// An actor that stashes and unstashes one message again and again never ends its batch. Other tasks
// still get the worker.
TEST_F(stashing, actor_that_stashes_for_ever_starves_no_other_task) {
    struct stubborn : sennit::stashing_actor<stubborn, word> {
        explicit stubborn(std::atomic<bool>& flag) : enough(flag) {}
        void on(word m) {
            if (enough) return stop();
            stash(std::move(m));
            unstash_all();
        }
        std::atomic<bool>& enough;
    };
    sennit::runtime alone({.workers = 1});
    sennit::actor_group one(alone);
    std::atomic<bool> enough{false};
    one.spawn<stubborn>(enough).tell(word{"x"});
    auto g = one.spawn<gate>();
    EXPECT_EQ(g.ask(all{}).get(), "(0)");
    enough = true;
    g.stop();
    one.join();
}

// ---- state machines

struct dial {
    using reply = int;
    int number;
};
struct hang_up {};
struct answered {};
struct history {
    using reply = std::string;
};
struct free_line {};
struct ringing {
    int number = 0;
    sennit::reply_to<int> caller;
    using postpones = sennit::accepts<dial>;
};
struct talking {
    int number = 0;
    using postpones = sennit::accepts<dial, answered>;
};

class phone : public sennit::state_machine<phone, sennit::states<free_line, ringing, talking>, dial,
                                           hang_up, answered, history> {
public:
    void on(free_line&, dial m, sennit::reply_to<int> caller) {
        become(ringing{m.number, std::move(caller)});
    }
    void on(free_line&, hang_up) {}
    void on(free_line&, answered) { past_ += "nobody called; "; }
    void on(ringing&, hang_up) { become(free_line{}); }
    void on(ringing& now, answered) {
        now.caller.set(now.number);
        become(talking{now.number});
        EXPECT_TRUE(is<ringing>()) << "the state changes when the handler ends";
    }
    void on(talking& now, hang_up) {
        past_ += std::to_string(now.number) + "; ";
        become(free_line{});
    }
    std::string on(history) { return past_; } // handled in any state

private:
    std::string past_;
};

TEST_F(stashing, state_machine_handles_messages_of_its_state_and_postpones_the_rest) {
    auto p = group.spawn<phone>();
    p.tell(answered{});
    EXPECT_EQ(p.ask(history{}).get(), "nobody called; ");
    auto first = p.ask(dial{1});
    auto second = p.ask(dial{2});
    auto third = p.ask(dial{3});
    p.tell(answered{}); // answers the first call
    EXPECT_EQ(first.get(), 1);
    p.tell(answered{}); // postponed, like the second and third call
    p.tell(hang_up{});  // the second call rings, then is answered
    EXPECT_EQ(second.get(), 2);
    p.tell(hang_up{});
    p.tell(hang_up{}); // the third caller hangs up
    EXPECT_THROW(third.get(), sennit::ask_failed);
    EXPECT_EQ(p.ask(history{}).get(), "nobody called; 1; 2; ");
}

struct state_is {
    using reply = int;
};
struct reply_in_state {
    using reply = int;
    int to;
};
struct even {
    int n = 0;
};
struct odd {
    int n = 0;
};
class parity
    : public sennit::state_machine<parity, sennit::states<even, odd>, reply_in_state, state_is> {
public:
    int on(even& now, reply_in_state m) { return go(now.n, m.to); }
    int on(odd& now, reply_in_state m) { return -go(now.n, m.to); }
    int on(even&, state_is) { return 0; }
    int on(odd&, state_is) { return 1; }

private:
    int go(int from, int to) {
        if (to % 2 == 0)
            become(even{to});
        else
            become(odd{to});
        return from + to;
    }
};

TEST_F(stashing, return_value_of_state_handler_is_the_answer) {
    auto p = group.spawn<parity>();
    EXPECT_EQ(p.ask(reply_in_state{3}).get(), 3);
    EXPECT_EQ(p.ask(state_is{}).get(), 1);
    EXPECT_EQ(p.ask(reply_in_state{4}).get(), -7);
    EXPECT_EQ(p.ask(state_is{}).get(), 0);
}

} // namespace
} // namespace stash_tests
