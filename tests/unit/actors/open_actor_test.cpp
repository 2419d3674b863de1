// SPDX-License-Identifier: Apache-2.0
// Open actors: handlers that are added and removed at run time, and messages without a handler.
#include "sennit/actor.hpp"
#include "sennit/event.hpp"

#include "quiet.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace open_actor_tests {
namespace {

struct number {
    int n;
};
struct text {
    std::string what;
};
struct read {
    using reply = std::string;
};
struct done {
    using reply = void;
};
struct only_moved {
    std::unique_ptr<int> n;
};

struct open_actors : testing::Test {
    quiet no_letters;
    sennit::runtime runtime{{.workers = 2}};
    sennit::actor_group group{runtime};
};

// Runs the steps that the test gives it, in its constructor or in a handler, and keeps a log.
struct scripted : sennit::open_actor<scripted> {
    using step = std::function<void(scripted&)>;
    struct run {
        using reply = void;
        step what;
    };
    explicit scripted(const step& first = nullptr) {
        add_handler([this](const run& m) { m.what(*this); });
        add_handler([this](read) { return std::exchange(log, {}); });
        if (first) first(*this);
    }
    void a(const number& m) { log += 'a' + std::to_string(m.n); }
    void b(const number& m) { log += 'b' + std::to_string(m.n); }
    void other(const text& m) { log += 't' + m.what; }
    void once(const number& m) {
        a(m);
        remove_handler(&scripted::once);
    }
    void become_b(const number& m) {
        a(m);
        remove_handler(&scripted::become_b);
        add_handler(&scripted::b);
    }
    void drop_b(const number& m) {
        a(m);
        remove_handler(&scripted::b);
    }
    void grow(const number& m) {
        a(m);
        if (m.n < 3) add_handler(&scripted::grow);
    }
    void unknown(const sennit::dead_letter& m) { log += 'u' + std::to_string(m.bytes.size()); }

    using open_actor::add_handler;
    using open_actor::handles;
    using open_actor::has_handler;
    using open_actor::remove_handler;
    using open_actor::set_default_handler;
    using open_actor::stop;
    std::string log;
};

std::string log_after(const sennit::actor_ref<scripted>& s, int count) {
    for (int i = 1; i <= count; ++i) s.tell(number{i});
    return s.ask(read{}).get();
}

TEST_F(open_actors, handler_added_in_constructor_receives_messages) {
    auto s = group.spawn<scripted>([](scripted& me) { me.add_handler(&scripted::a); });
    EXPECT_EQ(log_after(s, 3), "a1a2a3");
}

TEST_F(open_actors, handler_removed_in_constructor_receives_no_message) {
    auto s = group.spawn<scripted>([](scripted& me) {
        me.add_handler(&scripted::a);
        me.add_handler(&scripted::b);
        EXPECT_TRUE(me.remove_handler(&scripted::a));
    });
    EXPECT_EQ(log_after(s, 2), "b1b2");
}

TEST_F(open_actors, handlers_of_a_message_run_in_order_of_registration) {
    auto s = group.spawn<scripted>([](scripted& me) {
        me.add_handler(&scripted::b);
        me.add_handler(&scripted::other);
        me.add_handler(&scripted::a);
    });
    EXPECT_EQ(log_after(s, 2), "b1a1b2a2");
}

TEST_F(open_actors, handler_registered_twice_runs_twice_and_is_removed_one_by_one) {
    auto s = group.spawn<scripted>([](scripted& me) {
        me.add_handler(&scripted::a);
        me.add_handler(&scripted::a);
    });
    EXPECT_EQ(log_after(s, 1), "a1a1");
    s.ask(scripted::run{[](scripted& me) { EXPECT_TRUE(me.remove_handler(&scripted::a)); }}).get();
    EXPECT_EQ(log_after(s, 1), "a1");
    s.ask(scripted::run{[](scripted& me) {
         EXPECT_TRUE(me.remove_handler(&scripted::a));
         EXPECT_FALSE(me.remove_handler(&scripted::a)) << "both registrations are removed";
     }}).get();
    EXPECT_EQ(log_after(s, 1), "");
}

TEST_F(open_actors, handler_may_remove_itself) {
    auto s = group.spawn<scripted>([](scripted& me) { me.add_handler(&scripted::once); });
    EXPECT_EQ(log_after(s, 3), "a1");
}

TEST_F(open_actors, handler_may_replace_itself) {
    auto s = group.spawn<scripted>([](scripted& me) { me.add_handler(&scripted::become_b); });
    EXPECT_EQ(log_after(s, 3), "a1b2b3") << "the new handler starts with the next message";
}

TEST_F(open_actors, handler_removed_during_a_message_still_receives_it) {
    auto s = group.spawn<scripted>([](scripted& me) {
        me.add_handler(&scripted::drop_b);
        me.add_handler(&scripted::b);
    });
    EXPECT_EQ(log_after(s, 2), "a1b1a2");
}

TEST_F(open_actors, handler_added_during_a_message_receives_the_next_one) {
    auto s = group.spawn<scripted>([](scripted& me) { me.add_handler(&scripted::grow); });
    EXPECT_EQ(log_after(s, 3), "a1a2a2a3a3a3a3")
        << "each handler registers one more, until the third message";
}

TEST_F(open_actors, registrations_take_effect_immediately_step_by_step) {
    auto s = group.spawn<scripted>();
    const auto holds = [&](const std::function<bool(scripted&)>& what) {
        bool held = false;
        s.ask(scripted::run{[&](scripted& me) { held = what(me); }}).get();
        return held;
    };
    const auto a = &scripted::a, b = &scripted::b;
    EXPECT_TRUE(holds([=](scripted& me) { return !me.has_handler(a); }));                      // 1
    EXPECT_TRUE(holds([=](scripted& me) { return !me.has_handler(b); }));                      // 2
    EXPECT_TRUE(holds([=](scripted& me) { return !me.remove_handler(a); }));                   // 3
    EXPECT_TRUE(holds([=](scripted& me) { return me.add_handler(a), me.has_handler(a); }));    // 4
    EXPECT_TRUE(holds([=](scripted& me) { return me.has_handler(a) && !me.has_handler(b); })); // 5
    EXPECT_EQ(log_after(s, 1), "a1");                                                          // 6
    EXPECT_TRUE(holds([=](scripted& me) { return me.add_handler(b), me.has_handler(b); }));    // 7
    EXPECT_EQ(log_after(s, 1), "a1b1");                                                        // 8
    EXPECT_TRUE(
        holds([=](scripted& me) { return me.remove_handler(a) && !me.has_handler(a); }));      // 9
    EXPECT_TRUE(holds([=](scripted& me) { return !me.has_handler(a) && me.has_handler(b); })); // 10
    EXPECT_EQ(log_after(s, 1), "b1");                                                          // 11
    EXPECT_TRUE(holds([=](scripted& me) { return !me.remove_handler(a); }));                   // 12
    EXPECT_TRUE(holds([=](scripted& me) { return me.add_handler(a), me.remove_handler(a); })); // 13
    EXPECT_TRUE(holds([=](scripted& me) { return !me.has_handler(a); }));                      // 14
    EXPECT_TRUE(
        holds([=](scripted& me) { return me.remove_handler(b) && !me.has_handler(b); }));      // 15
    EXPECT_TRUE(holds([=](scripted& me) { return me.add_handler(b), me.has_handler(b); }));    // 16
    EXPECT_TRUE(holds([=](scripted& me) { return me.add_handler(b), me.remove_handler(b); })); // 17
    EXPECT_TRUE(holds([=](scripted& me) { return me.has_handler(b); }))
        << "registered twice, removed once"; // 18
    EXPECT_EQ(log_after(s, 1), "b1");        // 19
    EXPECT_TRUE(
        holds([=](scripted& me) { return me.remove_handler(b) && !me.has_handler(b); })); // 20
    EXPECT_EQ(log_after(s, 1), "");                                                       // 21
}

TEST_F(open_actors, lambda_is_removed_by_its_id) {
    sennit::handler_id which{};
    auto s = group.spawn<scripted>([&](scripted& me) {
        which = me.add_handler([&me](const number& m) { me.log += 'l' + std::to_string(m.n); });
        EXPECT_TRUE(me.has_handler(which) && me.handles<number>() && !me.handles<text>());
    });
    EXPECT_EQ(log_after(s, 1), "l1");
    s.ask(scripted::run{[&](scripted& me) {
         EXPECT_TRUE(me.remove_handler(which));
         EXPECT_FALSE(me.has_handler(which) || me.remove_handler(which) || me.handles<number>());
     }}).get();
    EXPECT_EQ(log_after(s, 1), "");
}

TEST_F(open_actors, add_handler_names_message_of_handler_with_auto_parameter) {
    auto s = group.spawn<scripted>([](scripted& me) {
        me.add_handler<number>([&me](const auto& m) { me.log += 'g' + std::to_string(m.n); });
        me.add_handler<text>(
            std::function<void(const text&)>([&me](const text& m) { me.log += m.what; }));
    });
    s.tell(text{"x"});
    EXPECT_EQ(log_after(s, 1), "xg1");
}

struct base_message {
    int n;
};
struct derived_message : base_message {};

TEST_F(open_actors, handler_matches_exact_type_only) {
    auto s = group.spawn<scripted>([](scripted& me) {
        me.add_handler([&me](const base_message& m) { me.log += std::to_string(m.n); });
    });
    const auto before = sennit::dead_letters();
    s.tell(derived_message{{1}});
    s.tell(base_message{2});
    EXPECT_EQ(s.ask(read{}).get(), "2");
    EXPECT_EQ(sennit::dead_letters(), before + 1);
}

TEST_F(open_actors, each_message_of_many_senders_reaches_the_present_handler) {
    struct swaps : sennit::open_actor<swaps> {
        swaps() {
            add_handler(&swaps::even);
            add_handler([this](const read&) { return log; });
        }
        void even(const number&) {
            right = right && turn++ % 2 == 0;
            remove_handler(&swaps::even);
            add_handler(&swaps::odd);
            if (turn == 1200) log = right ? "right" : "wrong";
        }
        void odd(const number&) {
            right = right && turn++ % 2 == 1;
            remove_handler(&swaps::odd);
            add_handler(&swaps::even);
            if (turn == 1200) log = right ? "right" : "wrong";
        }
        int turn = 0;
        bool right = true;
        std::string log;
    };
    const auto s = group.spawn<swaps>();
    std::vector<std::thread> senders;
    for (int t = 0; t < 4; ++t)
        senders.emplace_back([&] {
            for (int i = 0; i < 300; ++i) s.tell(number{i});
        });
    for (auto& one : senders) one.join();
    EXPECT_EQ(s.ask(read{}).get(), "right") << "each message reached exactly one handler";
}

// ---- values, copies and answers

TEST_F(open_actors, handler_that_takes_move_only_message_is_the_only_one) {
    auto s = group.spawn<scripted>([](scripted& me) {
        me.add_handler([&me](only_moved m) { me.log += std::to_string(*m.n); });
        EXPECT_THROW(me.add_handler([](const only_moved&) {}), std::logic_error);
        EXPECT_THROW(me.add_handler([](only_moved&&) {}), std::logic_error);
    });
    s.tell(only_moved{std::make_unique<int>(5)});
    EXPECT_EQ(s.ask(read{}).get(), "5");
}

TEST_F(open_actors, several_handlers_may_look_at_move_only_message) {
    auto s = group.spawn<scripted>([](scripted& me) {
        for (int i = 0; i < 2; ++i)
            me.add_handler([&me](const only_moved& m) { me.log += std::to_string(*m.n); });
    });
    s.tell(only_moved{std::make_unique<int>(5)});
    EXPECT_EQ(s.ask(read{}).get(), "55");
}

TEST_F(open_actors, handler_that_moves_from_message_takes_it_from_no_other_handler) {
    auto s = group.spawn<scripted>([](scripted& me) {
        me.add_handler([&me](text&& m) { me.log += std::exchange(m.what, "gone"); });
        me.add_handler([&me](text m) { me.log += std::exchange(m.what, "gone"); });
        me.add_handler([&me](const text& m) { me.log += m.what; });
    });
    s.tell(text{"x"});
    EXPECT_EQ(s.ask(read{}).get(), "xxx");
}

TEST_F(open_actors, first_answer_counts) {
    auto s = group.spawn<scripted>([](scripted& me) {
        // An earlier handler has answered, so no answer shows this text.
        me.add_handler([&me](const read&) { me.log = "never seen"; });
        me.add_handler([](const read&) { return std::string("too late"); });
    });
    s.tell(number{1});
    EXPECT_EQ(s.ask(read{}).get(), "");
}

TEST_F(open_actors, question_that_no_handler_answers_fails) {
    struct ask_this {
        using reply = int;
    };
    auto s = group.spawn<scripted>([](scripted& me) { me.add_handler([](const ask_this&) {}); });
    EXPECT_THROW(s.ask(ask_this{}).get(), sennit::ask_failed);
    EXPECT_THROW(s.ask(done{}).get(), sennit::ask_failed) << "no handler is registered";
    EXPECT_EQ(s.ask(read{}).get(), "") << "the actor is alive";
}

TEST_F(open_actors, answer_may_come_later) {
    struct keeper : sennit::open_actor<keeper> {
        keeper() {
            add_handler(&keeper::keep);
            add_handler(&keeper::give);
        }
        void keep(read, sennit::reply_to<std::string> answer) { kept = std::move(answer); }
        void give(const text& m) { kept.set(m.what); }
        sennit::reply_to<std::string> kept;
    };
    auto k = group.spawn<keeper>();
    auto wanted = k.ask(read{});
    k.tell(text{"now"});
    EXPECT_EQ(wanted.get(), "now");
}

TEST_F(open_actors, handler_learns_the_sender_and_answers_it) {
    struct echo : sennit::open_actor<echo> {
        echo() { add_handler(&echo::back); }
        void back(const number& m, sennit::any_ref from) { from.tell(text{std::to_string(m.n)}); }
    };
    auto e = group.spawn<echo>();
    sennit::event answered;
    auto s = group.spawn<scripted>([&](scripted& me) {
        me.add_handler([&](const text& m) {
            me.log += m.what;
            answered.set();
        });
        me.add_handler([e](const only_moved& m) { e.tell(number{*m.n}); });
    });
    s.tell(only_moved{std::make_unique<int>(7)});
    answered.wait();
    EXPECT_EQ(s.ask(read{}).get(), "7");
    const auto before = sennit::dead_letters();
    e.tell(number{8}); // has no sender: the answer is a dead letter
    e.stop();
    s.stop();
    group.join();
    EXPECT_EQ(sennit::dead_letters(), before + 1);
}

TEST_F(open_actors, exception_of_handler_ends_actor_before_other_handlers_run) {
    std::string seen;
    auto s = group.spawn<scripted>([&](scripted& me) {
        me.add_handler([](const number&) { throw std::runtime_error("thrown on purpose"); });
        me.add_handler([&seen](const number&) { seen = "ran"; });
    });
    s.tell(number{1});
    EXPECT_THROW(group.join(), std::runtime_error);
    EXPECT_EQ(seen, "");
}

TEST_F(open_actors, no_handler_runs_after_a_handler_that_stops) {
    std::string seen;
    auto s = group.spawn<scripted>([&](scripted& me) {
        me.add_handler([&me](const number&) { me.stop(); });
        me.add_handler([&seen](const number&) { seen = "ran"; });
    });
    s.tell(number{1});
    group.join();
    EXPECT_EQ(seen, "");
}

// ---- references that name no message, or some

TEST_F(open_actors, any_reference_reaches_typed_and_open_actors) {
    struct typed : sennit::actor<typed, number, read> {
        void on(number m) { sum += m.n; }
        std::string on(read) { return std::to_string(sum); }
        int sum = 0;
    };
    const auto t = group.spawn<typed>();
    const auto o = group.spawn<scripted>([](scripted& me) { me.add_handler(&scripted::a); });
    for (const sennit::any_ref& one : {sennit::any_ref(t), sennit::any_ref(o)}) one.tell(number{4});
    EXPECT_EQ(sennit::any_ref(t).ask(read{}).get(), "4");
    EXPECT_EQ(sennit::actor_ref<sennit::accepts<read>>(o).ask(read{}).get(), "a4");
    const auto before = sennit::dead_letters();
    sennit::any_ref(t).tell(text{"it has no handler"});
    EXPECT_THROW(sennit::any_ref(t).ask(done{}).get(), sennit::ask_failed);
    EXPECT_EQ(t.ask(read{}).get(), "4") << "the actor is alive";
    EXPECT_EQ(sennit::dead_letters(), before + 2);
}

// ---- default handlers

TEST_F(open_actors, default_handler_receives_messages_without_handler) {
    auto s = group.spawn<scripted>([](scripted& me) {
        me.add_handler(&scripted::a);
        me.set_default_handler(&scripted::unknown);
    });
    const auto before = sennit::dead_letters();
    s.tell(text{"x"});
    EXPECT_EQ(log_after(s, 1), "u" + std::to_string(sizeof(text)) + "a1");
    EXPECT_EQ(sennit::dead_letters(), before)
        << "a message for the default handler is no dead letter";
}

TEST_F(open_actors, default_handler_sees_type_bytes_sender_and_receiver) {
    sennit::dead_letter seen{};
    int copied = 0, as_number = 0;
    auto s = group.spawn<scripted>([&](scripted& me) {
        me.set_default_handler([&](const sennit::dead_letter& m) {
            seen = m;
            ASSERT_EQ(m.bytes.size(), sizeof copied);
            std::memcpy(&copied, m.bytes.data(), sizeof copied);
            if (const number* n = m.as<number>()) as_number = n->n;
            EXPECT_EQ(m.as<text>(), nullptr);
        });
    });
    auto sender = group.spawn<scripted>(
        [s](scripted& me) { me.add_handler([s](const text&) { s.tell(number{42}); }); });
    sender.tell(text{"go"});
    (void)sender.ask(read{}).get();
    (void)s.ask(read{}).get();
    EXPECT_EQ(copied, 42);
    EXPECT_EQ(as_number, 42);
    EXPECT_EQ(*seen.message, typeid(number));
    EXPECT_EQ(seen.sender, sender.address());
    EXPECT_EQ(seen.receiver, s.address());
}

TEST_F(open_actors, default_handler_may_replace_and_remove_itself) {
    auto s = group.spawn<scripted>([](scripted& me) {
        me.set_default_handler([&me](const sennit::dead_letter&) {
            me.log += '1';
            me.set_default_handler([&me](const sennit::dead_letter&) {
                me.log += '2';
                me.set_default_handler(nullptr);
            });
            me.log += '-'; // this handler still exists
        });
    });
    const auto before = sennit::dead_letters();
    EXPECT_EQ(log_after(s, 4), "1-2");
    EXPECT_EQ(sennit::dead_letters(), before + 2);
}

TEST_F(open_actors, default_handler_may_register_missing_handler) {
    auto s = group.spawn<scripted>([](scripted& me) {
        me.set_default_handler([&me](const sennit::dead_letter& m) {
            if (const number* n = m.as<number>()) me.a(*n);
            me.add_handler(&scripted::b);
        });
    });
    EXPECT_EQ(log_after(s, 3), "a1b2b3");
}

// ---- watching

TEST_F(open_actors, watcher_learns_of_an_end_by_handler_or_default_handler) {
    for (const bool known : {true, false}) {
        auto whom = group.spawn<scripted>();
        sennit::event told;
        struct watcher : sennit::open_actor<watcher> {
            watcher(sennit::any_ref whom, bool known, sennit::event& told) {
                if (known) add_handler([&told](const sennit::down&) { told.set(); });
                set_default_handler([&told](const sennit::dead_letter& m) {
                    if (m.as<sennit::down>()) told.set();
                });
                watch(whom);
            }
        };
        auto w = group.spawn<watcher>(whom, known, told);
        whom.stop();
        told.wait();
        EXPECT_TRUE(w.alive());
        w.stop();
    }
    group.join();
}

TEST_F(open_actors, link_ends_actor_without_handler_for_down_message) {
    for (const bool has_handler : {true, false}) {
        struct tied : sennit::open_actor<tied> {
            tied(sennit::any_ref other, bool listens, sennit::event& told) {
                if (listens) add_handler([&told](const sennit::down&) { told.set(); });
                link(other.address());
            }
        };
        sennit::event told;
        auto bad = group.spawn<scripted>([](scripted& me) {
            me.add_handler([](const number&) { throw std::runtime_error("thrown on purpose"); });
        });
        auto t = group.spawn<tied>(bad, has_handler, told);
        bad.tell(number{1});
        if (has_handler) {
            told.wait();
            EXPECT_TRUE(t.alive());
            t.stop();
        }
        group.join(); // returns only if the linked actor has ended, too
        EXPECT_FALSE(t.alive());
    }
}

} // namespace
} // namespace open_actor_tests
