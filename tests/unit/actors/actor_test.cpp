// SPDX-License-Identifier: Apache-2.0
// The promises of a single actor: its answers, its end, its mailbox.
#include "sennit/actor.hpp"
#include "sennit/event.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

namespace {

using namespace std::chrono_literals;
using sennit::actor_group;
using sennit::actor_ref;
using sennit::send_status;

struct add {
    int n;
};
struct total {
    using reply = int;
};
struct fail {};
struct leave {};
struct own {
    std::unique_ptr<int> number;
};
struct hold { // keeps the handler inside until the test sets `until`
    std::shared_ptr<sennit::event> begun, until;
};

class counter : public sennit::actor<counter, add, total, fail, leave, own, hold> {
public:
    explicit counter(int start = 0, std::shared_ptr<std::atomic<int>> ends = nullptr)
        : sum_(start), ends_(std::move(ends)) {}
    void on(add m) { sum_ += m.n; }
    int on(total) { return sum_; }
    void on(fail) { throw std::runtime_error("thrown on purpose"); }
    void on(leave) { stop(); }
    void on(own m) { sum_ += *m.number; }
    void on(const hold& m) {
        m.begun->set();
        m.until->wait();
    }
    void stopped(sennit::exit_reason why) {
        if (ends_) *ends_ += 1 + 100 * static_cast<int>(why);
    }

private:
    int sum_;
    std::shared_ptr<std::atomic<int>> ends_;
};

hold a_hold() {
    return {std::make_shared<sennit::event>(), std::make_shared<sennit::event>()};
}

struct actors : testing::Test {
    sennit::runtime runtime{{.workers = 2}};
    actor_group group{runtime};
    sennit::dead_letter_handler silent = sennit::set_dead_letter_handler(nullptr);
    ~actors() override { sennit::set_dead_letter_handler(silent); }
};

TEST_F(actors, reference_occupies_eight_bytes) {
    EXPECT_EQ(sizeof(actor_ref<counter>), 8u);
}

TEST_F(actors, references_have_order_and_hash) {
    std::vector<actor_ref<counter>> all;
    for (int i = 0; i < 10; ++i) all.push_back(group.spawn<counter>());
    std::map<sennit::any_ref, std::size_t> sorted;
    std::unordered_set<actor_ref<counter>> hashed;
    for (std::size_t i = 0; i < all.size(); ++i) {
        sorted[all[i]] = i;
        hashed.insert(all[i]);
    }
    EXPECT_EQ(sorted.size(), all.size());
    EXPECT_EQ(hashed.size(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(sorted.at(all[i]), i);
    EXPECT_FALSE(all[0] < all[0]);
    EXPECT_EQ(std::hash<sennit::address_of_actor>()(all[0].address()),
              std::hash<sennit::any_ref>()(all[0]));
}

TEST_F(actors, actor_handles_messages_of_thread_in_order_and_answers) {
    auto c = group.spawn<counter>(1);
    for (int i = 0; i < 100; ++i) c.tell(add{i});
    EXPECT_EQ(c.ask(total{}).get(), 4951);
}

TEST_F(actors, message_may_be_move_only) {
    auto c = group.spawn<counter>();
    c.tell(own{std::make_unique<int>(7)});
    EXPECT_EQ(c.ask(total{}).get(), 7);
}

TEST_F(actors, ask_with_limit_returns_answer_in_time) {
    auto c = group.spawn<counter>(5);
    auto answer = c.ask(total{}, 10s);
    ASSERT_TRUE(answer);
    EXPECT_EQ(*answer, 5);
}

TEST_F(actors, ask_returns_at_its_limit_and_drops_late_answer) {
    auto c = group.spawn<counter>(5);
    hold held = a_hold();
    c.tell(held);
    held.begun->wait();
    auto answer = c.ask(total{}, 1ms);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error(), sennit::ask_error::timed_out);
    EXPECT_THROW((void)answer.value(), sennit::ask_failed);
    held.until->set();
    EXPECT_EQ(c.ask(total{}).get(), 5);
}

TEST(ask_result_death_test, error_of_an_answer_ends_program) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    const sennit::ask_result<int> answered(5);
    EXPECT_DEATH((void)answered.error(), "SNT-518.*ask has_value\\(\\) first");
}

TEST_F(actors, ask_of_ended_actor_fails_immediately) {
    auto c = group.spawn<counter>();
    c.stop();
    group.join();
    EXPECT_EQ(c.ask(total{}, 10s).error(), sennit::ask_error::actor_down);
    EXPECT_THROW(c.ask(total{}).get(), sennit::ask_failed);
    EXPECT_EQ(c.try_tell(add{1}), send_status::dead);
    EXPECT_FALSE(c.alive());
}

TEST_F(actors, pending_ask_fails_when_actor_ends) {
    auto c = group.spawn<counter>();
    hold held = a_hold();
    c.tell(held);
    held.begun->wait();
    c.tell(leave{});
    auto wanted = c.ask(total{});
    held.until->set();
    EXPECT_THROW(wanted.get(), sennit::ask_failed);
}

TEST_F(actors, message_to_null_reference_is_dead_letter) {
    const auto before = sennit::dead_letters();
    actor_ref<counter> nobody;
    EXPECT_EQ(nobody.try_tell(add{1}), send_status::dead);
    EXPECT_FALSE(nobody);
    EXPECT_EQ(sennit::dead_letters(), before + 1);
}

TEST_F(actors, exception_ends_only_its_actor_and_reaches_join) {
    auto ends = std::make_shared<std::atomic<int>>(0);
    auto bad = group.spawn<counter>(0, ends);
    auto good = group.spawn<counter>(3);
    bad.tell(fail{});
    bad.tell(add{1});
    EXPECT_EQ(good.ask(total{}).get(), 3);
    good.stop();
    EXPECT_THROW(group.join(), std::runtime_error);
    EXPECT_EQ(*ends, 101) << "stopped(error) was called once";
    EXPECT_FALSE(bad.alive());
}

TEST_F(actors, messages_behind_stop_are_dead_letters) {
    const auto before = sennit::dead_letters();
    auto c = group.spawn<counter>();
    hold held = a_hold();
    c.tell(held);
    held.begun->wait();
    c.tell(leave{});
    c.tell(add{1});
    c.tell(add{1});
    held.until->set();
    group.join();
    while (sennit::dead_letters() < before + 2)
        std::this_thread::yield(); // the batch continues after the end
    EXPECT_EQ(sennit::dead_letters(), before + 2);
}

TEST_F(actors, kill_overtakes_earlier_messages) {
    auto ends = std::make_shared<std::atomic<int>>(0);
    auto c = group.spawn<counter>(0, ends);
    hold first = a_hold(), never = a_hold();
    c.tell(first);
    first.begun->wait();
    c.tell(never);
    c.kill();
    first.until->set();
    group.join();
    EXPECT_EQ(*ends, 1);
}

TEST_F(actors, group_destructor_ends_its_actors) {
    auto ends = std::make_shared<std::atomic<int>>(0);
    actor_ref<counter> one;
    {
        actor_group inner(runtime);
        for (int i = 0; i < 100; ++i) one = inner.spawn<counter>(0, ends);
        EXPECT_EQ(inner.size(), 100u);
    }
    EXPECT_EQ(*ends, 100 * 301) << "stopped(shutdown)";
    EXPECT_FALSE(one.alive());
}

TEST_F(actors, actor_of_stopped_group_ends_immediately) {
    group.stop();
    auto c = group.spawn<counter>();
    group.join();
    EXPECT_FALSE(c.alive());
}

TEST_F(actors, throwing_constructor_leaves_no_actor) {
    struct bad : sennit::actor<bad, add> {
        bad() { throw std::runtime_error("thrown on purpose"); }
        void on(add) {}
    };
    EXPECT_THROW(group.spawn<bad>(), std::runtime_error);
    EXPECT_EQ(group.size(), 0u);
    group.join();
}

// A constructor may publish its actor's address and then throw: no later actor has that address.
TEST_F(actors, failed_spawn_leaves_address_of_no_actor) {
    static actor_ref<counter> kept;
    struct bad : sennit::actor<bad, add> {
        bad() {
            kept = actor_ref<counter>(address());
            throw std::runtime_error("thrown on purpose");
        }
        void on(add) {}
    };
    for (int i = 0; i < 3; ++i) {
        EXPECT_THROW(runtime.run([&] { group.spawn<bad>(); }), std::runtime_error);
        auto c = runtime.run([&] { return group.spawn<counter>(); });
        EXPECT_NE(c, kept);
        EXPECT_EQ(kept.try_tell(add{1}), send_status::dead);
        EXPECT_EQ(c.ask(total{}).get(), 0);
    }
}

TEST_F(actors, only_spawn_constructs_actor) {
    EXPECT_THROW(counter(), std::logic_error);
}

TEST_F(actors, group_finds_actor_by_name) {
    auto c = group.spawn<counter>({.name = "the counter"}, 9);
    auto found = group.find<counter>("the counter");
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, c);
    EXPECT_FALSE(group.find<counter>("another"));
}

TEST_F(actors, pinned_actor_runs_on_its_worker) {
    struct where {
        using reply = std::thread::id;
    };
    struct pinned : sennit::actor<pinned, where> {
        std::thread::id on(where) { return std::this_thread::get_id(); }
    };
    auto a = group.spawn<pinned>({.worker = 1});
    const auto there = a.ask(where{}).get();
    for (int i = 0; i < 50; ++i) EXPECT_EQ(a.ask(where{}).get(), there);
    EXPECT_THROW(group.spawn<pinned>({.worker = 9}), std::invalid_argument);
}

// ---- references for part of a protocol

TEST_F(actors, partial_reference_reaches_any_actor_that_accepts_its_messages) {
    struct other : sennit::actor<other, total, add> {
        void on(add m) { n -= m.n; }
        int on(total) { return n; }
        int n = 0;
    };
    using summing = sennit::accepts<add, total>;
    std::vector<actor_ref<summing>> both{group.spawn<counter>(), group.spawn<other>()};
    for (const auto& one : both) one.tell(add{4});
    EXPECT_EQ(both[0].ask(total{}).get(), 4);
    EXPECT_EQ(both[1].ask(total{}).get(), -4);
}

// ---- questions that another actor answers, or that an actor answers later

struct front : sennit::actor<front, total> {
    explicit front(actor_ref<counter> to) : back(to) {}
    void on(total m, sennit::reply_to<int> answer) { back.forward(m, std::move(answer)); }
    actor_ref<counter> back;
};

TEST_F(actors, actor_forwards_question) {
    auto back = group.spawn<counter>(11);
    auto f = group.spawn<front>(back);
    EXPECT_EQ(f.ask(total{}).get(), 11);
}

struct late : sennit::actor<late, total, add> {
    void on(total, sennit::reply_to<int> answer) { kept.push_back(std::move(answer)); }
    void on(add m) {
        for (auto& one : kept) one.set(m.n);
        kept.clear();
    }
    std::vector<sennit::reply_to<int>> kept;
};

TEST_F(actors, answer_may_come_later_and_kept_reply_fails_with_its_actor) {
    auto a = group.spawn<late>();
    auto first = a.ask(total{});
    a.tell(add{6});
    EXPECT_EQ(first.get(), 6);
    auto second = a.ask(total{});
    a.stop();
    EXPECT_THROW(second.get(), sennit::ask_failed);
}

struct asker : sennit::actor<asker, total, actor_ref<asker>> {
    void on(actor_ref<asker> m) { other = m; }
    int on(total) {
        auto answer = other.ask(total{}, 10s);
        return answer ? *answer : -static_cast<int>(answer.error());
    }
    actor_ref<asker> other;
};

TEST_F(actors, ask_reports_circle_of_questions) {
    auto a = group.spawn<asker>();
    auto b = group.spawn<asker>();
    a.tell(b);
    b.tell(a);
    EXPECT_EQ(a.ask(total{}).get(), -static_cast<int>(sennit::ask_error::cycle));
}

// A circle may consist of one actor, and a question without a time limit may close it. An actor
// outside the circle that asks a member gets its answer.
TEST_F(actors, ask_reports_circle_of_any_length) {
    struct waits : sennit::actor<waits, total, actor_ref<waits>> {
        void on(actor_ref<waits> m) { other = m; }
        int on(total) {
            auto answer = other.ask(total{}, sennit::forever);
            return answer ? *answer + 1 : answer.error() == sennit::ask_error::cycle ? 100 : -1;
        }
        actor_ref<waits> other;
    };
    for (std::size_t length = 1; length <= 5; ++length) {
        std::vector<actor_ref<waits>> circle;
        for (std::size_t i = 0; i < length; ++i) circle.push_back(group.spawn<waits>());
        for (std::size_t i = 0; i < length; ++i) circle[i].tell(circle[(i + 1) % length]);
        auto outside = group.spawn<waits>();
        outside.tell(circle[0]);
        EXPECT_EQ(outside.ask(total{}).get(), static_cast<int>(100 + length));
    }
}

// ---- bounded mailboxes

struct bounded : actors {
    actor_ref<counter> full_one(enum sennit::overflow how) {
        auto c = group.spawn<counter>({.mailbox = 2, .overflow = how});
        c.tell(held);
        held.begun->wait();
        EXPECT_EQ(c.try_tell(add{1}), send_status::sent);
        EXPECT_EQ(c.try_tell(add{2}), send_status::sent);
        return c;
    }
    int let_go(const actor_ref<counter>& c) {
        held.until->set();
        for (;;) // the question may find the mailbox full
            if (auto sum = c.ask(total{}, 10s)) return *sum;
    }
    hold held = a_hold();
};

TEST_F(bounded, full_mailbox_refuses_message) {
    auto c = full_one(sennit::overflow::fail);
    EXPECT_EQ(c.try_tell(add{4}), send_status::full);
    EXPECT_EQ(c.send(add{4}), send_status::full);
    EXPECT_EQ(let_go(c), 3);
}

TEST_F(bounded, full_mailbox_drops_newest_message) {
    auto c = full_one(sennit::overflow::drop_newest);
    c.tell(add{4});
    EXPECT_EQ(let_go(c), 3);
}

TEST_F(bounded, full_mailbox_drops_oldest_message) {
    auto c = full_one(sennit::overflow::drop_oldest);
    EXPECT_EQ(c.try_tell(add{4}), send_status::sent);
    auto sum = c.ask(total{}); // drops one more message
    held.until->set();
    EXPECT_EQ(sum.get(), 4);
}

TEST_F(bounded, sender_waits_for_room) {
    auto c = full_one(sennit::overflow::suspend);
    EXPECT_EQ(c.try_tell(add{4}), send_status::full);
    std::thread sender([&] { EXPECT_EQ(c.send(add{8}), send_status::sent); });
    held.until->set();
    sender.join();
    EXPECT_EQ(let_go(c), 11);
}

TEST_F(bounded, waiting_sender_learns_of_receivers_end) {
    auto c = full_one(sennit::overflow::suspend);
    // The message may enter before the end.
    std::thread sender([&] { EXPECT_NE(c.send(add{8}), send_status::full); });
    c.kill();
    held.until->set();
    sender.join();
    group.join();
}

// ---- watches and links

struct gone {
    using reply = int;
};
struct linked : sennit::actor<linked, fail, leave> {
    explicit linked(sennit::address_of_actor to) {
        if (to) link(to);
    }
    void on(fail) { throw std::runtime_error("thrown on purpose"); }
    void on(leave) { stop(); }
};

struct observe {
    using reply = void;
    actor_ref<counter> whom;
};

struct how_many {
    using reply = int;
};
struct watcher : sennit::actor<watcher, observe, sennit::down, gone, how_many> {
    int on(how_many) { return static_cast<int>(seen.size()); }
    void on(observe m) { watch(m.whom); }
    void on(const sennit::down& m) {
        seen.push_back(static_cast<int>(m.why));
        if (wanted) wanted.set(seen.back());
    }
    void on(gone, sennit::reply_to<int> answer) {
        if (seen.empty())
            wanted = std::move(answer);
        else
            answer.set(seen.back());
    }
    std::vector<int> seen;
    sennit::reply_to<int> wanted;
};

TEST_F(actors, watcher_learns_how_actor_ended) {
    for (const bool by_error : {false, true}) {
        auto c = group.spawn<counter>();
        auto w = group.spawn<watcher>();
        w.ask(observe{c}).get(); // from now on it watches
        auto end = w.ask(gone{});
        if (by_error)
            c.tell(fail{});
        else
            c.tell(leave{});
        EXPECT_EQ(end.get(), static_cast<int>(by_error ? sennit::exit_reason::error
                                                       : sennit::exit_reason::normal));
        w.stop();
    }
    group.join(); // the watcher got the error: join throws none
}

TEST_F(actors, watcher_named_at_spawn_misses_no_end) {
    struct at_once : sennit::actor<at_once, fail> {
        at_once() { throw std::runtime_error("thrown on purpose"); }
        void on(fail) {}
    };
    auto w = group.spawn<watcher>();
    EXPECT_THROW(group.spawn<at_once>({.watcher = w.address()}), std::runtime_error);
    auto c = group.spawn<counter>({.watcher = w.address()});
    c.tell(fail{});
    EXPECT_EQ(w.ask(gone{}).get(), static_cast<int>(sennit::exit_reason::error));
    EXPECT_EQ(w.ask(how_many{}).get(), 1) << "a failed spawn sends no down message";
}

TEST_F(actors, watch_of_ended_actor_reports_immediately) {
    auto c = group.spawn<counter>();
    c.stop();
    group.join();
    auto w = group.spawn<watcher>();
    w.tell(observe{c});
    EXPECT_EQ(w.ask(gone{}).get(), static_cast<int>(sennit::exit_reason::unknown));
}

TEST_F(actors, down_message_enters_full_mailbox) {
    struct narrow : sennit::actor<narrow, hold, add, sennit::down, gone> {
        narrow(const actor_ref<counter>& of) { watch(of); }
        void on(const hold& m) {
            m.begun->set();
            m.until->wait();
        }
        void on(add) {}
        void on(const sennit::down&) { ++seen; }
        int on(gone) { return seen; }
        int seen = 0;
    };
    auto c = group.spawn<counter>();
    auto n = group.spawn<narrow>({.mailbox = 1}, c);
    hold held = a_hold();
    n.tell(held);
    held.begun->wait();
    EXPECT_EQ(n.try_tell(add{1}), send_status::sent);
    EXPECT_EQ(n.try_tell(add{1}), send_status::full);
    c.stop();
    while (c.alive()) std::this_thread::yield();
    held.until->set();
    for (;;) // the question may find the mailbox full
        if (auto seen = n.ask(gone{}, 10s); seen && *seen == 1) break;
}

// An actor that a constructor watches may have ended before, and may end while the constructor
// runs.
TEST_F(actors, constructor_may_watch) {
    struct from_birth : sennit::actor<from_birth, sennit::down, gone> {
        from_birth(const actor_ref<counter>& before, const actor_ref<counter>& meanwhile) {
            watch(before);
            watch(meanwhile);
            meanwhile.stop();
            while (meanwhile.alive()) std::this_thread::yield();
        }
        void on(const sennit::down&) {
            if (++seen == 2 && wanted) wanted.set(2);
        }
        void on(gone, sennit::reply_to<int> answer) {
            if (seen == 2)
                answer.set(2);
            else
                wanted = std::move(answer);
        }
        int seen = 0;
        sennit::reply_to<int> wanted;
    };
    for (int i = 0; i < 50; ++i) {
        auto before = group.spawn<counter>(), meanwhile = group.spawn<counter>();
        before.stop();
        while (before.alive()) std::this_thread::yield();
        auto w = group.spawn<from_birth>(before, meanwhile);
        EXPECT_EQ(w.ask(gone{}).get(), 2);
        w.stop();
    }
}

TEST_F(actors, constructor_that_watches_may_throw) {
    struct bad : sennit::actor<bad, sennit::down> {
        explicit bad(const actor_ref<counter>& of) {
            watch(of);
            throw std::runtime_error("thrown on purpose");
        }
        void on(const sennit::down&) {}
    };
    auto c = group.spawn<counter>();
    EXPECT_THROW(group.spawn<bad>(c), std::runtime_error);
    c.stop();
    group.join();
    EXPECT_THROW(group.spawn<bad>(c), std::runtime_error);
}

TEST_F(actors, error_ends_linked_actors) {
    auto a = group.spawn<linked>(sennit::address_of_actor());
    auto b = group.spawn<linked>(a.address());
    auto c = group.spawn<linked>(b.address());
    a.tell(fail{});
    group.join();
    EXPECT_FALSE(b.alive() || c.alive());
}

TEST_F(actors, normal_end_ends_no_linked_actor) {
    auto a = group.spawn<linked>(sennit::address_of_actor());
    auto b = group.spawn<linked>(a.address());
    a.tell(leave{});
    while (a.alive()) std::this_thread::yield();
    auto w = group.spawn<counter>(1);
    EXPECT_EQ(w.ask(total{}).get(), 1);
    EXPECT_TRUE(b.alive());
}

} // namespace
