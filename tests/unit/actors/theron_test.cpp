// SPDX-License-Identifier: Apache-2.0
// Behaviour that users of Theron rely on and that no other file of this folder tests: construction
// of runtimes and actors, addresses, types of messages, senders, order, termination, several
// runtimes.
#include "sennit/actor.hpp"
#include "sennit/catcher.hpp"
#include "sennit/event.hpp"
#include "sennit/fiber.hpp"
#include "sennit/fork_join.hpp"
#include "sennit/receiver.hpp"

#include "quiet.hpp"

#include <gtest/gtest.h>

#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace theron_tests {

struct table {
    int rows;
};
struct message_of_pointer {
    const table* where;
};

} // namespace theron_tests

template <>
inline constexpr bool sennit::allow_share<const theron_tests::table*> = true;
template <>
inline constexpr bool sennit::allow_share<theron_tests::table*> = true;

namespace theron_tests {
namespace {

using namespace std::chrono_literals;
using sennit::any_ref;

struct theron : testing::Test {
    quiet no_letters;
    sennit::runtime runtime{{.workers = 2}};
    sennit::actor_group group{runtime};
    sennit::receiver here{runtime};
};

// Sends each message back to its sender.
template <class... Ms>
struct echo : sennit::open_actor<echo<Ms...>> {
    echo() {
        (this->template add_handler<Ms>([](Ms m, any_ref from) { from.tell(std::move(m)); }), ...);
    }
};

template <class M>
M sent_and_back(theron& at, M message) {
    sennit::catcher<M> caught(at.here);
    const auto there = at.group.spawn<echo<M>>();
    at.here.tell(there, std::move(message));
    at.here.wait();
    there.stop();
    return std::move(caught.try_pop().value().message);
}

// ---- runtimes

TEST_F(theron, runtime_has_the_given_number_of_workers) {
    for (const unsigned count : {1u, 2u, 5u}) {
        sennit::runtime one({.workers = count});
        EXPECT_EQ(one.workers(), count);
        EXPECT_EQ(one.metrics().workers, count);
    }
}

TEST_F(theron, runtime_with_many_options_runs_actors) {
    for (const auto policy : {sennit::scheduling::stealing, sennit::scheduling::sharing,
                              sennit::scheduling::round_robin, sennit::scheduling::automatic}) {
        sennit::runtime one({.workers = 2, .pin = true, .policy = policy, .max_spare_workers = 0});
        sennit::actor_group there(one);
        sennit::receiver wanted(one);
        wanted.tell(there.spawn<echo<int>>(), 1);
        EXPECT_EQ(wanted.wait(), 1u);
    }
}

TEST_F(theron, workers_run_on_the_given_processors) {
    std::vector<unsigned> usable;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        cpu_set_t mine;
        CPU_ZERO(&mine);
        if (::sched_getaffinity(0, sizeof mine, &mine) == 0 && CPU_ISSET(cpu, &mine))
            usable.push_back(cpu);
    }
    ASSERT_FALSE(usable.empty());
    const unsigned last = usable.back();
    sennit::runtime one({.processors = {last}});
    EXPECT_EQ(one.workers(), 1u) << "at most one worker for each processor";
    sennit::runtime three({.workers = 3, .processors = {last}});
    EXPECT_EQ(three.workers(), 3u);
    three.run([&] {
        cpu_set_t mine;
        CPU_ZERO(&mine);
        ASSERT_EQ(::sched_getaffinity(0, sizeof mine, &mine), 0);
        EXPECT_EQ(CPU_COUNT(&mine), 1);
        EXPECT_TRUE(CPU_ISSET(last, &mine));
    });
    EXPECT_EQ(three.metrics().unpinned, 0u);
    sennit::runtime refused({.workers = 1, .processors = {(1u << 20) - 1}});
    refused.run([] {});
    EXPECT_EQ(refused.metrics().unpinned, 1u);
}

TEST_F(theron, node_has_processors) {
    EXPECT_THROW(sennit::cpus_of_node(1'000'000), std::invalid_argument);
    unsigned node = 0;
    std::vector<unsigned> found;
    for (; found.empty() && node < 64; ++node) {
        try {
            found = sennit::cpus_of_node(node);
        } catch (const std::invalid_argument&) { // nodes need not begin with 0
        }
    }
    ASSERT_FALSE(found.empty());
    EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
}

TEST_F(theron, chain_of_five_runtimes_passes_message_on) {
    struct next : sennit::actor<next, int> {
        explicit next(any_ref given) : to(given) {}
        void on(int m) { to.tell(m + 1); }
        any_ref to;
    };
    std::vector<std::unique_ptr<sennit::runtime>> runtimes;
    std::vector<std::unique_ptr<sennit::actor_group>> groups;
    sennit::catcher<int> last(here);
    any_ref to = here;
    for (int i = 0; i < 5; ++i) {
        runtimes.push_back(
            std::make_unique<sennit::runtime>(sennit::runtime_options{.workers = 1}));
        groups.push_back(std::make_unique<sennit::actor_group>(*runtimes.back()));
        to = groups.back()->spawn<next>(to);
    }
    for (int i = 0; i < 10; ++i) to.tell(10 * i);
    here.wait_for_all(10);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(last.pop().message, 10 * i + 5);
    while (!groups.empty()) groups.pop_back();
}

TEST_F(theron, actor_spawns_actors_in_another_runtime) {
    sennit::runtime other({.workers = 1});
    sennit::actor_group there(other);
    struct maker : sennit::open_actor<maker> {
        explicit maker(sennit::actor_group& where) {
            add_handler([&where](const std::string&, any_ref from) {
                // In a handler the sender is the handler's actor, which gets the answer.
                tell_from(from, where.spawn<echo<int>>(), 1);
            });
            add_handler([this](const int& m) { whom.tell(10 * m); });
            add_handler([this](const any_ref& m) { whom = m; });
        }
        any_ref whom;
    };
    sennit::catcher<int> caught(here);
    const auto m = group.spawn<maker>(there);
    m.tell(here.ref());
    m.tell(std::string("go"));
    EXPECT_EQ(caught.pop().message, 10);
    EXPECT_EQ(there.size(), 1u);
    there.stop();
    there.join();
}

TEST_F(theron, group_counts_handled_messages) {
    const auto before = group.handled();
    const auto a = group.spawn<echo<int>>();
    for (int i = 0; i < 100; ++i) here.tell(a, i);
    here.wait_for_all(100);
    EXPECT_EQ(group.handled() - before, 100u);
    a.stop();
    group.join();
    EXPECT_GE(group.handled() - before, 100u) << "the count includes the ended actor";
    sennit::actor_group other(runtime);
    EXPECT_EQ(other.handled(), 0u);
}

// ---- actors and addresses

TEST_F(theron, addresses_are_values) {
    const auto a = group.spawn<echo<int>>(), b = group.spawn<echo<int>>();
    any_ref one = a, other = b, none;
    EXPECT_NE(one, other);
    EXPECT_NE(one, none);
    EXPECT_EQ(none, any_ref());
    EXPECT_FALSE(none);
    EXPECT_TRUE(one);
    const any_ref copy(one);
    EXPECT_EQ(copy, one);
    other = copy;
    EXPECT_EQ(other, one);
    EXPECT_EQ(one.address(), a.address());
}

TEST_F(theron, assigned_address_reaches_the_new_actor) {
    sennit::actor_group brief(runtime);
    auto a = brief.spawn<echo<int>>();
    const auto old = a;
    a.stop();
    brief.join();
    a = brief.spawn<echo<int>>();
    EXPECT_NE(a, old);
    EXPECT_FALSE(old.alive());
    here.tell(old, 1);
    here.tell(a, 2);
    sennit::catcher<int> caught(here);
    here.tell(a, 3);
    while (caught.empty()) here.wait();
    const int first = caught.pop().message;
    EXPECT_TRUE(first == 2 || first == 3) << "the message to the old address is lost";
}

TEST_F(theron, actor_has_the_address_of_its_reference) {
    struct tells : sennit::actor<tells, any_ref> {
        void on(any_ref m) { m.tell(sennit::address_of_actor(self().address())); }
    };
    sennit::catcher<sennit::address_of_actor> caught(here);
    const auto a = group.spawn<tells>();
    a.tell(here.ref());
    EXPECT_EQ(caught.pop().message, a.address());
}

TEST_F(theron, thousands_of_actors_live_at_the_same_time) {
    std::vector<any_ref> all;
    for (int i = 0; i < 5000; ++i) all.push_back(group.spawn<echo<int>>());
    for (const any_ref& one : all) here.tell(one, 1);
    here.wait_for_all(all.size());
    EXPECT_EQ(group.size(), all.size());
}

TEST_F(theron, spawn_passes_parameters_to_constructor) {
    struct parameters : sennit::actor<parameters, any_ref> {
        parameters(int a, std::string b, std::unique_ptr<int> c) : sum(a + std::stoi(b) + *c) {}
        void on(any_ref m) { m.tell(sum); }
        int sum;
    };
    sennit::catcher<int> caught(here);
    group.spawn<parameters>(1, "20", std::make_unique<int>(300)).tell(here.ref());
    EXPECT_EQ(caught.pop().message, 321);
}

TEST_F(theron, constructors_send_and_spawn_actors) {
    struct child : sennit::actor<child> {
        explicit child(any_ref whom) { whom.tell(1); }
    };
    struct parent : sennit::actor<parent> {
        explicit parent(any_ref whom) {
            whom.tell(10);
            for (int i = 0; i < 3; ++i) group().template spawn<child>(whom);
        }
    };
    sennit::catcher<int> caught(here);
    group.spawn<parent>(here);
    here.wait_for_all(4);
    int sum = 0;
    while (auto one = caught.try_pop()) sum += one->message;
    EXPECT_EQ(sum, 13);
    EXPECT_EQ(group.size(), 4u);
}

TEST_F(theron, destructors_send) {
    struct last_words : sennit::actor<last_words> {
        explicit last_words(any_ref given) : whom(given) {}
        ~last_words() { whom.tell(7); }
        any_ref whom;
    };
    sennit::catcher<int> caught(here);
    group.spawn<last_words>(here).stop();
    EXPECT_EQ(caught.pop().message, 7);
}

TEST_F(theron, handler_spawns_actors_and_sends_to_them) {
    struct worker : sennit::actor<worker, int, any_ref> {
        void on(int m) { sum += m; }
        void on(any_ref m) {
            m.tell(sum);
            stop();
        }
        int sum = 0;
    };
    struct boss : sennit::actor<boss, any_ref> {
        void on(any_ref m) {
            for (int i = 1; i <= 3; ++i) {
                const auto made = group().template spawn<worker>();
                made.tell(i);
                made.tell(10 * i);
                made.tell(m);
            }
        }
    };
    sennit::catcher<int> caught(here);
    group.spawn<boss>().tell(here.ref());
    std::set<int> sums;
    for (int i = 0; i < 3; ++i) sums.insert(caught.pop().message);
    EXPECT_EQ(sums, (std::set<int>{11, 22, 33}));
}

TEST_F(theron, actor_sends_to_itself) {
    struct counts : sennit::actor<counts, int, any_ref> {
        void on(int m) {
            ++turns;
            if (m > 0)
                self().tell(m - 1);
            else
                whom.tell(turns);
        }
        void on(any_ref m) {
            whom = m;
            self().tell(9);
        }
        any_ref whom;
        int turns = 0;
    };
    sennit::catcher<int> caught(here);
    group.spawn<counts>().tell(here.ref());
    EXPECT_EQ(caught.pop().message, 10);
}

TEST_F(theron, find_searches_name_in_its_own_group_only) {
    sennit::runtime other({.workers = 1});
    sennit::actor_group there(other);
    const auto a = group.spawn<echo<int>>({.name = "printer"});
    const auto b = there.spawn<echo<int>>({.name = "printer"});
    EXPECT_EQ(group.find<echo<int>>("printer"), a);
    EXPECT_EQ(there.find<echo<int>>("printer"), b);
    EXPECT_FALSE(group.find<echo<long>>("printer")) << "the actor is of another class";
    here.tell(*there.find<echo<int>>("printer"), 1);
    EXPECT_EQ(here.wait(), 1u);
    a.stop();
    group.join();
    EXPECT_FALSE(group.find<echo<int>>("printer"));
}

// ---- types of messages

TEST_F(theron, messages_carry_values_of_many_types) {
    enum class colour : unsigned char { red, green };
    struct empty {
        bool operator==(const empty&) const = default;
    };
    struct mixed {
        int a;
        double b;
        std::string c;
        bool operator==(const mixed&) const = default;
    };
    EXPECT_EQ(sent_and_back(*this, 42), 42);
    EXPECT_EQ(sent_and_back(*this, 2.5), 2.5);
    EXPECT_EQ(sent_and_back(*this, true), true);
    EXPECT_EQ(sent_and_back(*this, colour::green), colour::green);
    EXPECT_EQ(sent_and_back(*this, empty{}), empty{});
    EXPECT_EQ(sent_and_back(*this, mixed{1, 2, "three"}), (mixed{1, 2, "three"}));
    EXPECT_EQ(sent_and_back(*this, std::string(1000, 'x')), std::string(1000, 'x'));
    EXPECT_EQ(sent_and_back(*this, std::array<int, 4>{1, 2, 3, 4}),
              (std::array<int, 4>{1, 2, 3, 4}));
}

TEST_F(theron, messages_carry_containers) {
    EXPECT_EQ(sent_and_back(*this, std::vector<int>{1, 2, 3}), (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(sent_and_back(*this, std::vector<std::vector<std::string>>{{"a"}, {}}),
              (std::vector<std::vector<std::string>>{{"a"}, {}}));
    EXPECT_EQ(sent_and_back(*this, std::map<std::string, int>{{"a", 1}}),
              (std::map<std::string, int>{{"a", 1}}));
}

TEST_F(theron, vector_is_moved_from_sender_to_receiver) {
    struct holds : sennit::actor<holds, std::vector<int>, sennit::reply_to<const void*>> {
        void on(std::vector<int>&& m) { kept = std::move(m); }
        void on(sennit::reply_to<const void*> m) { m.set(static_cast<const void*>(kept.data())); }
        std::vector<int> kept;
    };
    std::vector<int> big(1000, 1);
    const void* const place = big.data();
    const auto a = group.spawn<holds>();
    a.tell(std::move(big));
    sennit::promise<const void*> asked;
    auto answer = asked.get_future();
    a.tell(sennit::reply_to<const void*>(std::move(asked)));
    EXPECT_EQ(answer.get(), place);
}

TEST_F(theron, messages_may_be_larger_than_any_cached_block) {
    using page = std::array<char, 8192>;
    page sent{};
    sent[0] = 'a', sent[8191] = 'z';
    const page back = sent_and_back(*this, sent);
    EXPECT_EQ(back[0], 'a');
    EXPECT_EQ(back[8191], 'z');
}

TEST_F(theron, messages_carry_pointers_that_allow_share_permits) {
    table shared{3};
    EXPECT_EQ(sent_and_back(*this, message_of_pointer{&shared}).where->rows, 3);
    EXPECT_EQ(sent_and_back<table*>(*this, &shared), &shared);
    EXPECT_EQ(sent_and_back(*this, std::make_shared<const table>(table{4}))->rows, 4);
}

TEST_F(theron, messages_carry_addresses_that_receivers_use) {
    struct introduces : sennit::actor<introduces, any_ref> {
        explicit introduces(any_ref given) : whom(given) {}
        void on(any_ref m) { whom.tell(m); }
        any_ref whom;
    };
    sennit::catcher<any_ref> caught(here);
    const auto e = group.spawn<echo<int>>();
    group.spawn<introduces>(here).tell(any_ref(e));
    const any_ref known = caught.pop().message;
    here.reset();
    here.tell(known, 5);
    EXPECT_EQ(here.wait(), 1u);
}

TEST_F(theron, handler_of_base_class_handles_message) {
    struct doubling {
        void twice(const int& m, any_ref from) { from.tell(factor * m); }
        int factor = 2;
    };
    struct derived : doubling, sennit::open_actor<derived> {
        derived() { add_handler(&derived::twice); }
    };
    sennit::catcher<int> caught(here);
    here.tell(group.spawn<derived>(), 21);
    EXPECT_EQ(caught.pop().message, 42);
}

// ---- senders

TEST_F(theron, threads_fibers_forks_and_workers_of_another_runtime_send) {
    struct sums : sennit::actor<sums, int> {
        explicit sums(any_ref given) : whom(given) {}
        void on(int m) {
            if ((sum += m) == 11111) whom.tell(sum);
        }
        any_ref whom;
        int sum = 0;
    };
    const auto s = group.spawn<sums>(here);
    s.tell(1);
    std::thread([&] { s.tell(10); }).join();
    runtime.run([&] {
        sennit::fiber([&] { s.tell(100); }).join();
        (void)sennit::fork_join([&] { return s.tell(1000), 0; }, [] { return 0; });
    });
    sennit::runtime other({.workers = 1});
    other.run([&] { s.tell(10000); });
    EXPECT_EQ(here.wait(), 1u);
}

TEST_F(theron, try_tell_reports_delivery_to_mailbox) {
    const auto a = group.spawn<echo<int>>();
    EXPECT_EQ(any_ref(a).try_tell(1), sennit::send_status::sent);
    EXPECT_EQ(any_ref(a).try_tell(std::string("no handler for it")), sennit::send_status::sent);
    EXPECT_EQ(any_ref().try_tell(1), sennit::send_status::dead);
    a.stop();
    group.join();
    EXPECT_EQ(any_ref(a).try_tell(1), sennit::send_status::dead);
}

// ---- order, and one handler at a time

TEST_F(theron, messages_of_one_sender_arrive_in_order) {
    struct expects : sennit::actor<expects, int> {
        explicit expects(any_ref given) : whom(given) {}
        void on(int m) { whom.tell(m == next++); }
        any_ref whom;
        int next = 0;
    };
    sennit::catcher<bool> right(here);
    const auto a = group.spawn<expects>(here);
    for (const int sent : {0, 1, 2, 3, 4, 5, 6, 7, 9}) a.tell(sent);
    for (int i = 0; i < 8; ++i) EXPECT_TRUE(right.pop().message) << i;
    EXPECT_FALSE(right.pop().message) << "the sender left 8 out";
}

TEST_F(theron, one_handler_runs_at_a_time) {
    struct shares : sennit::open_actor<shares> {
        explicit shares(any_ref given) : whom(given) {
            add_handler(&shares::one);
            add_handler(&shares::other);
        }
        void one(const int&) { step(); }
        void other(const std::string&) { step(); }
        void step() { // loses a count if another handler runs meanwhile
            const int before = count;
            std::this_thread::yield();
            count = before + 1;
            if (count == 900) whom.tell(count);
        }
        any_ref whom;
        int count = 0;
    };
    const auto a = group.spawn<shares>(here);
    std::vector<std::thread> senders;
    for (int t = 0; t < 3; ++t)
        senders.emplace_back([a] {
            for (int i = 0; i < 150; ++i) {
                a.tell(i);
                a.tell(std::string("x"));
            }
        });
    for (auto& one : senders) one.join();
    EXPECT_EQ(here.wait(), 1u);
}

TEST_F(theron, urgent_message_goes_first) {
    struct logs : sennit::actor<logs, int, std::shared_ptr<sennit::event>> {
        explicit logs(any_ref given) : whom(given) {}
        void on(int m) { whom.tell(m); }
        void on(const std::shared_ptr<sennit::event>& m) {
            whom.tell(0);
            m->wait();
        }
        any_ref whom;
    };
    sennit::catcher<int> caught(here);
    const auto a = group.spawn<logs>(here);
    const auto gate = std::make_shared<sennit::event>();
    a.tell(gate);
    EXPECT_EQ(caught.pop().message, 0);
    a.tell(1);
    a.tell_urgent(2);
    a.tell(3);
    gate->set();
    EXPECT_EQ(caught.pop().message, 2);
    EXPECT_EQ(caught.pop().message, 1);
    EXPECT_EQ(caught.pop().message, 3);
}

// ---- termination

TEST_F(theron, group_may_be_destroyed_with_messages_in_its_mailboxes) {
    const auto left = std::make_shared<int>(0);
    {
        sennit::actor_group brief(runtime);
        struct slow : sennit::actor<slow, std::shared_ptr<int>> {
            void on(const std::shared_ptr<int>&) { std::this_thread::yield(); }
        };
        const auto a = brief.spawn<slow>();
        for (int i = 0; i < 1000; ++i) a.tell(left);
    }
    while (left.use_count() != 1) std::this_thread::yield(); // every message is destroyed
    EXPECT_EQ(left.use_count(), 1);
}

TEST_F(theron, messages_that_reach_no_actor_are_destroyed) {
    const auto left = std::make_shared<int>(0);
    any_ref().tell(left);
    const auto a = group.spawn<echo<int>>();
    any_ref(a).tell(left);
    a.stop();
    group.join();
    any_ref(a).tell(left);
    while (left.use_count() != 1) std::this_thread::yield();
    EXPECT_EQ(left.use_count(), 1);
}

TEST_F(theron, slot_of_ended_actor_is_reused_and_its_address_is_not) {
    std::set<std::uint32_t> slots;
    any_ref first;
    for (int i = 0; i < 2000; ++i) {
        sennit::actor_group brief(runtime);
        const auto a = brief.spawn<echo<int>>();
        if (i == 0) first = a;
        slots.insert(a.address().slot);
        a.stop();
        brief.join();
        EXPECT_FALSE(first.alive());
    }
    EXPECT_LT(slots.size(), 1500u) << "later actors reuse slots";
}

} // namespace
} // namespace theron_tests
