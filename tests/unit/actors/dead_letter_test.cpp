// SPDX-License-Identifier: Apache-2.0
// Dead letters: which messages become one, and which handler receives it.
#include "sennit/actor/dead_letter.hpp"

#include "sennit/actor.hpp"
#include "sennit/event.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace dead_letter_tests {
namespace {

struct number {
    int n;
};
struct other {};
struct wait_here {
    std::shared_ptr<sennit::event> begun, until;
};
struct finish {};

struct typed : sennit::actor<typed, number, wait_here, finish> {
    void on(number) {}
    void on(const wait_here& m) {
        m.begun->set();
        m.until->wait();
    }
    void on(finish) { stop(); }
};
struct open : sennit::open_actor<open> {};

// A dead letter that a handler received, and the number in it, or -1 for a message of another type.
struct seen {
    sennit::dead_letter letter;
    int n;
};
struct notes {
    std::function<void(const sennit::dead_letter&)> writer() {
        return [this](const sennit::dead_letter& m) {
            std::lock_guard guard(lock);
            const number* of = m.as<number>();
            all.push_back({m, of ? of->n : -1});
        };
    }
    std::size_t size() {
        std::lock_guard guard(lock);
        return all.size();
    }
    void wait_for(std::size_t count) {
        while (size() < count) std::this_thread::yield();
    }
    std::mutex lock;
    std::vector<seen> all;
};

std::atomic<int> process_wide{0};

struct dead_letters : testing::Test {
    sennit::runtime runtime{{.workers = 2}};
    sennit::actor_group group{runtime};
    notes seen;
    sennit::dead_letter_handler before_it = sennit::set_dead_letter_handler(
        [](const sennit::dead_letter&) noexcept { ++process_wide; });
    dead_letters() { process_wide = 0; }
    ~dead_letters() override { sennit::set_dead_letter_handler(before_it); }
};

TEST_F(dead_letters, fallback_handler_receives_messages_to_ended_actor) {
    sennit::fallback_handler shown(runtime, seen.writer());
    auto a = group.spawn<typed>();
    a.stop();
    group.join();
    a.tell(number{7});
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen.all[0].n, 7);
    EXPECT_EQ(seen.all[0].letter.receiver, a.address());
    EXPECT_EQ(seen.all[0].letter.why, sennit::dead_letter_reason::ended);
    EXPECT_EQ(process_wide, 0) << "the fallback handler replaces the process-wide one";
}

TEST_F(dead_letters, fallback_handler_receives_messages_left_in_mailbox_of_ended_actor) {
    sennit::fallback_handler shown(runtime, seen.writer());
    auto a = group.spawn<typed>();
    wait_here held{std::make_shared<sennit::event>(), std::make_shared<sennit::event>()};
    a.tell(held);
    held.begun->wait();
    a.tell(finish{});
    a.tell(number{1});
    a.tell(number{2});
    held.until->set();
    seen.wait_for(2);
    EXPECT_EQ(seen.all[0].n, 1);
    EXPECT_EQ(seen.all[1].n, 2);
    EXPECT_EQ(seen.all[1].letter.receiver, a.address());
}

TEST_F(dead_letters, fallback_handler_receives_message_that_full_mailbox_refused) {
    sennit::fallback_handler shown(runtime, seen.writer());
    auto a = group.spawn<typed>({.mailbox = 1, .overflow = sennit::overflow::fail});
    wait_here held{std::make_shared<sennit::event>(), std::make_shared<sennit::event>()};
    a.tell(held);
    held.begun->wait();
    a.tell(number{1});
    a.tell(number{2});
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen.all[0].n, 2);
    EXPECT_EQ(seen.all[0].letter.why, sennit::dead_letter_reason::full);
    EXPECT_EQ(seen.all[0].letter.receiver, a.address());
    held.until->set();
    a.stop();
    group.join();
}

TEST_F(dead_letters, fallback_handler_receives_dropped_oldest_message) {
    sennit::fallback_handler shown(runtime, seen.writer());
    auto a = group.spawn<typed>({.mailbox = 1, .overflow = sennit::overflow::drop_oldest});
    wait_here held{std::make_shared<sennit::event>(), std::make_shared<sennit::event>()};
    a.tell(held);
    held.begun->wait();
    a.tell(number{1});
    a.tell(number{2});
    held.until->set();
    seen.wait_for(1);
    EXPECT_EQ(seen.all[0].n, 1);
    EXPECT_EQ(seen.all[0].letter.why, sennit::dead_letter_reason::full);
}

TEST_F(dead_letters, fallback_handler_receives_messages_without_handler) {
    sennit::fallback_handler shown(runtime, seen.writer());
    auto o = group.spawn<open>();
    auto t = group.spawn<typed>();
    o.tell(number{1});
    sennit::any_ref(t).tell(other{});
    seen.wait_for(2);
    for (const auto& one : seen.all) {
        EXPECT_EQ(one.letter.why, sennit::dead_letter_reason::unhandled);
        EXPECT_EQ(one.letter.receiver, one.n == 1 ? o.address() : t.address());
    }
    EXPECT_TRUE(o.alive() && t.alive());
}

TEST_F(dead_letters, fallback_handler_of_group_receives_messages_without_handler) {
    notes of_group, of_other;
    sennit::actor_group elsewhere(runtime);
    sennit::fallback_handler shown(runtime, seen.writer());
    sennit::fallback_handler inner(group, of_group.writer());
    sennit::fallback_handler outer(elsewhere, of_other.writer());
    group.spawn<open>().tell(number{1});
    elsewhere.spawn<open>().tell(number{2});
    sennit::actor_ref<open>().tell(number{3}); // no actor, and a thread outside all runtimes
    of_group.wait_for(1);
    of_other.wait_for(1);
    EXPECT_EQ(of_group.all[0].n, 1);
    EXPECT_EQ(of_other.all[0].n, 2);
    EXPECT_EQ(seen.size(), 0u);
    EXPECT_EQ(process_wide, 1);
}

TEST_F(dead_letters, each_runtime_has_its_own_fallback_handler) {
    sennit::runtime second({.workers = 1});
    sennit::actor_group there(second);
    notes of_second;
    sennit::fallback_handler first_one(runtime, seen.writer());
    sennit::fallback_handler second_one(second, of_second.writer());
    there.spawn<open>().tell(number{1});
    group.spawn<open>().tell(number{2});
    of_second.wait_for(1);
    seen.wait_for(1);
    EXPECT_EQ(of_second.all[0].n, 1);
    EXPECT_EQ(seen.all[0].n, 2);
}

TEST_F(dead_letters, runtime_of_sender_receives_messages_to_actors_of_destroyed_runtime) {
    sennit::fallback_handler shown(runtime, seen.writer());
    sennit::any_ref stale;
    {
        sennit::runtime brief({.workers = 1});
        sennit::actor_group there(brief);
        stale = there.spawn<open>();
    }
    stale.tell(number{1}); // this thread belongs to no runtime
    EXPECT_EQ(seen.size(), 0u);
    EXPECT_EQ(process_wide, 1);
    struct forwards : sennit::actor<forwards, number> {
        explicit forwards(sennit::any_ref given) : to(given) {}
        void on(number m) { to.tell(m); }
        sennit::any_ref to;
    };
    auto f = group.spawn<forwards>(stale);
    f.tell(number{2});
    seen.wait_for(1);
    EXPECT_EQ(seen.all[0].n, 2);
    EXPECT_EQ(seen.all[0].letter.sender, f.address());
}

TEST_F(dead_letters, newest_fallback_handler_replaces_older_one_until_destroyed) {
    notes inner;
    sennit::fallback_handler shown(runtime, seen.writer());
    auto gone = group.spawn<typed>();
    gone.stop();
    group.join();
    {
        sennit::fallback_handler again(runtime, inner.writer());
        gone.tell(number{1});
    }
    gone.tell(number{2});
    ASSERT_EQ(inner.size(), 1u);
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(inner.all[0].n, 1);
    EXPECT_EQ(seen.all[0].n, 2);
}

TEST_F(dead_letters, process_wide_handler_receives_dead_letters_without_fallback_handler) {
    auto gone = group.spawn<typed>();
    gone.stop();
    group.join();
    {
        sennit::fallback_handler brief(runtime, seen.writer());
    }
    gone.tell(number{1});
    EXPECT_EQ(seen.size(), 0u);
    EXPECT_EQ(process_wide, 1);
}

TEST_F(dead_letters, destructor_of_fallback_handler_waits_for_running_call) {
    sennit::event inside, go;
    std::atomic<bool> returned{false};
    auto shown =
        std::make_unique<sennit::fallback_handler>(runtime, [&](const sennit::dead_letter&) {
            inside.set();
            go.wait();
            returned = true;
        });
    auto gone = group.spawn<typed>();
    gone.stop();
    group.join();
    std::thread sender([&] { gone.tell(number{1}); });
    inside.wait();
    std::thread opener([&] { go.set(); });
    shown.reset();
    EXPECT_TRUE(returned);
    sender.join();
    opener.join();
}

TEST_F(dead_letters, fallback_handler_may_cause_further_dead_letters) {
    auto gone = group.spawn<typed>();
    gone.stop();
    group.join();
    sennit::fallback_handler shown(runtime, [&](const sennit::dead_letter& m) {
        seen.writer()(m);
        if (const number* n = m.as<number>(); n && n->n < 3) gone.tell(number{n->n + 1});
    });
    gone.tell(number{1});
    EXPECT_EQ(seen.size(), 3u);
}

TEST_F(dead_letters, write_dead_letter_prints_receiver_reason_and_sender) {
    testing::internal::CaptureStderr();
    sennit::write_dead_letter({&typeid(number), {}, {5, 1}, sennit::dead_letter_reason::unhandled});
    const std::string written = testing::internal::GetCapturedStderr();
    EXPECT_NE(written.find("to actor 5.1, which has no handler for it, not sent by an actor"),
              std::string::npos)
        << written;
}

} // namespace
} // namespace dead_letter_tests
