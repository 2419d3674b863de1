// SPDX-License-Identifier: Apache-2.0
// Name registries, topics, routers and metrics: features that span several actors.
#include "until.hpp"

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace groups_of_actors_tests {
namespace {

using namespace std::chrono_literals;
using actor_tests::held;
using actor_tests::until;
using sennit::actor_ref;
using sennit::child;
using sennit::routing;

struct number {
    int n;
};
struct numbers {
    using reply = std::vector<int>;
};
struct fail_now {};

class list : public sennit::actor<list, number, numbers, fail_now, held> {
public:
    list() = default;
    list(sennit::topic<number>& of, sennit::name_registry& names) {
        of.subscribe(self());
        names.put("made", self());
    }
    void on(number m) { seen_.push_back(m.n); }
    std::vector<int> on(numbers) { return seen_; }
    void on(fail_now) { throw std::runtime_error("thrown on purpose"); }
    void on(const held& m) { m.wait(); }

private:
    std::vector<int> seen_;
};
struct other_class : sennit::actor<other_class, number> {
    void on(number) {}
};

struct several : actor_tests::with_actors {
    std::vector<actor_ref<list>> spawn(int n) {
        std::vector<actor_ref<list>> all;
        for (int i = 0; i < n; ++i) all.push_back(group.spawn<list>());
        return all;
    }
    static std::vector<int> seen(const actor_ref<list>& by) { return by.ask(numbers{}).get(); }
    void end(const actor_ref<list>& one) {
        one.stop();
        until([&] { return !one.alive(); });
    }
};

// ---- names

TEST_F(several, registry_finds_actor_by_name_and_class) {
    sennit::name_registry names;
    auto one = group.spawn<list>();
    names.put("one", one);
    names.put("uno", one);
    EXPECT_EQ(names.find<list>("one"), one);
    EXPECT_EQ(names.find<list>("uno"), one);
    EXPECT_FALSE(names.find<other_class>("one"));
    EXPECT_FALSE(names.find<list>("two"));
    EXPECT_EQ(names.names(), (std::vector<std::string>{"one", "uno"}));
}

TEST_F(several, registry_refuses_taken_name_with_clear_error) {
    sennit::name_registry names;
    auto one = group.spawn<list>();
    names.put("one", one);
    names.put("one", one); // a second call has no effect
    try {
        names.put("one", group.spawn<list>());
        FAIL();
    } catch (const sennit::name_taken& e) {
        EXPECT_STREQ(e.what(), "sennit: [SNT-509] a living actor has this name already: one");
    }
    EXPECT_EQ(names.find<list>("one"), one);
    EXPECT_TRUE(names.remove("one"));
    EXPECT_FALSE(names.remove("one"));
    names.put("one", group.spawn<other_class>());
    EXPECT_FALSE(names.find<list>("one"));
}

TEST_F(several, end_of_actor_frees_its_names) {
    sennit::name_registry names;
    for (int i = 0; i < 300; ++i) { // unused names of ended actors go away by themselves
        auto one = group.spawn<list>();
        names.put("n" + std::to_string(i), one);
        end(one);
    }
    EXPECT_TRUE(names.names().empty());
    EXPECT_FALSE(names.find<list>("n7"));
    EXPECT_FALSE(names.remove("n299"));
    auto next = group.spawn<list>();
    names.put("n7", next);
    EXPECT_EQ(names.find<list>("n7"), next);
    actor_ref<list> nobody;
    names.put("nobody", nobody);
    EXPECT_FALSE(names.find<list>("nobody"));
}

struct on_end : sennit::actor<on_end, sennit::down, numbers> {
    on_end(sennit::name_registry& in, const actor_ref<list>& whom) : names(in) { watch(whom); }
    void on(const sennit::down&) {
        try {
            names.put("role", self());
            wanted.set(std::vector<int>{1});
        } catch (const sennit::name_taken&) {
            wanted.set(std::vector<int>{0});
        }
    }
    void on(numbers, sennit::reply_to<std::vector<int>> answer) { wanted = std::move(answer); }
    sennit::name_registry& names;
    sennit::reply_to<std::vector<int>> wanted;
};
TEST_F(several, watcher_that_learns_of_an_end_finds_the_name_free) {
    for (int i = 0; i < 50; ++i) {
        sennit::name_registry names;
        auto holder = group.spawn<list>();
        names.put("role", holder);
        auto heir = group.spawn<on_end>(names, holder);
        auto took_it = heir.ask(numbers{});
        // The question must come before the down message.
        until([&] { return sennit::metrics_of(heir)->handled == 1; });
        holder.stop();
        EXPECT_EQ(took_it.get(), std::vector<int>{1});
        heir.stop();
    }
}

TEST_F(several, one_of_many_threads_gets_the_name) {
    sennit::name_registry names;
    for (int round = 0; round < 20; ++round) {
        const std::string name = "n" + std::to_string(round);
        std::atomic<int> winners{0};
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&] {
                auto one = group.spawn<list>();
                try {
                    names.put(name, one);
                    ++winners;
                } catch (const sennit::name_taken&) {
                }
            });
        for (auto& one : threads) one.join();
        EXPECT_EQ(winners, 1);
    }
}

// ---- topics

TEST_F(several, topic_reaches_subscribers_until_they_unsubscribe) {
    sennit::topic<number> topic;
    auto all = spawn(3);
    EXPECT_EQ(topic.publish(number{0}), 0u);
    for (const auto& one : all) topic.subscribe(one);
    topic.subscribe(all[0]); // a second subscription has no effect
    EXPECT_EQ(topic.publish(number{1}), 3u);
    EXPECT_TRUE(topic.unsubscribe(all[1]));
    EXPECT_FALSE(topic.unsubscribe(all[1]));
    EXPECT_EQ(topic.publish(number{2}), 2u);
    EXPECT_EQ(seen(all[0]), (std::vector<int>{1, 2}));
    EXPECT_EQ(seen(all[1]), (std::vector<int>{1}));
    EXPECT_EQ(seen(all[2]), (std::vector<int>{1, 2}));
}

TEST_F(several, topic_drops_ended_subscriber_without_dead_letter) {
    sennit::topic<number> topic;
    auto all = spawn(2);
    for (const auto& one : all) topic.subscribe(one);
    end(all[0]);
    const auto letters = sennit::dead_letters();
    EXPECT_EQ(topic.publish(number{1}), 1u);
    EXPECT_EQ(topic.size(), 1u);
    topic.subscribe(all[0]);
    EXPECT_EQ(topic.publish(number{2}), 1u);
    EXPECT_EQ(sennit::dead_letters(), letters);
}

TEST_F(several, constructor_may_subscribe_and_take_name) {
    sennit::topic<number> topic;
    sennit::name_registry names;
    auto one = group.spawn<list>(topic, names);
    EXPECT_EQ(topic.publish(number{1}), 1u);
    EXPECT_EQ(seen(one), std::vector<int>{1});
    EXPECT_EQ(names.find<list>("made"), one);
}

TEST_F(several, all_subscribers_receive_messages_of_topic_in_one_order) {
    constexpr int each = 300;
    sennit::topic<number> topic;
    auto all = spawn(3);
    for (const auto& one : all) topic.subscribe(one);
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < each; ++i) topic.publish(number{t * each + i});
        });
    runtime.run([&] {
        for (int i = 0; i < each; ++i) topic.publish(number{3 * each + i});
    });
    for (auto& one : threads) one.join();
    const auto first = seen(all[0]);
    EXPECT_EQ(first.size(), std::size_t{4 * each});
    EXPECT_EQ(seen(all[1]), first);
    EXPECT_EQ(seen(all[2]), first);
}

TEST_F(several, subscribers_may_end_while_topic_publishes) {
    sennit::topic<number> topic;
    std::atomic<bool> over{false};
    std::thread publisher([&] {
        while (!over) topic.publish(number{1});
    });
    for (int i = 0; i < 200; ++i) {
        auto one = group.spawn<list>(); // its mailbox accepts messages until the actor ends
        topic.subscribe(one);
        one.kill();
    }
    group.join();
    over = true;
    publisher.join();
    EXPECT_EQ(topic.size(), 0u);
}

// ---- routers

TEST_F(several, round_robin_cycles_through_members) {
    sennit::router<list> pool;
    auto all = spawn(3);
    for (const auto& one : all) pool.add(one);
    for (int i = 0; i < 9; ++i) pool.tell(number{i});
    EXPECT_EQ(seen(all[0]), (std::vector<int>{0, 3, 6}));
    EXPECT_EQ(seen(all[1]), (std::vector<int>{1, 4, 7}));
    EXPECT_EQ(seen(all[2]), (std::vector<int>{2, 5, 8}));
    EXPECT_EQ(pool.ask(numbers{}).get().size(), 3u);
    EXPECT_TRUE(pool.ask(numbers{}, 30s).has_value());
}

TEST_F(several, random_routing_reaches_every_member) {
    sennit::router<list> pool(routing::random);
    std::set<std::uint32_t> missing;
    for (const auto& one : spawn(4)) {
        pool.add(one);
        missing.insert(one.address().slot);
    }
    until([&] {
        missing.erase(pool.pick().address().slot);
        return missing.empty();
    });
}

TEST_F(several, least_full_picks_member_with_fewest_messages) {
    sennit::router<list> pool(routing::least_full);
    std::array<held, 3> in_hand;
    std::vector<actor_ref<list>> all;
    for (const auto& one : in_hand) {
        all.push_back(group.spawn<list>({.mailbox = sennit::counted_mailbox}));
        pool.add(all.back());
        all.back().tell(one);
        one.begun->wait();
    }
    all[0].tell(number{0});
    all[0].tell(number{0});
    all[2].tell(number{0});
    EXPECT_EQ(pool.pick(), all[1]);
    pool.tell(number{1}); // now 2, 1 and 1 wait
    pool.tell(number{2});
    pool.tell(number{3}); // now 2, 2 and 2 wait
    for (const auto& one : all) EXPECT_EQ(sennit::metrics_of(one)->waiting, 2u);
    for (const auto& one : in_hand) one.until->set();
}

TEST_F(several, key_belongs_to_one_member_and_moves_only_when_it_ends) {
    sennit::router<list> pool, same;
    auto all = spawn(5);
    for (const auto& one : all) {
        pool.add(one);
        same.add(one);
    }
    std::map<int, actor_ref<list>> owner;
    std::map<std::uint32_t, int> share;
    for (int key = 0; key < 1000; ++key) {
        owner[key] = pool.pick_for(key);
        EXPECT_EQ(same.pick_for(key), owner[key]) << "both routers choose one member";
        ++share[owner[key].address().slot];
    }
    for (const auto& [slot, keys] : share)
        EXPECT_GT(keys, 100) << "of 1000 keys, for each of five members";
    EXPECT_EQ(share.size(), 5u);
    end(all[3]);
    for (int key = 0; key < 1000; ++key) {
        if (owner[key] == all[3])
            EXPECT_TRUE(pool.pick_for(key).alive());
        else
            EXPECT_EQ(pool.pick_for(key), owner[key]);
    }
    pool.tell_for(std::string("a key"), number{1});
    EXPECT_EQ(pool.ask_for(std::string("a key"), numbers{}).get(), std::vector<int>{1});
}

TEST_F(several, broadcast_reaches_all_members) {
    sennit::router<list> pool;
    auto all = spawn(3);
    for (const auto& one : all) pool.add(one);
    EXPECT_TRUE(pool.remove(all[2]));
    EXPECT_FALSE(pool.remove(all[2]));
    EXPECT_EQ(pool.broadcast(number{7}), 2u);
    EXPECT_EQ(seen(all[0]), std::vector<int>{7});
    EXPECT_EQ(seen(all[1]), std::vector<int>{7});
    EXPECT_EQ(seen(all[2]), std::vector<int>{});
}

TEST_F(several, router_drops_ended_members_and_without_members_makes_dead_letters) {
    sennit::router<list> pool;
    auto all = spawn(2);
    for (const auto& one : all) pool.add(one);
    end(all[0]);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(pool.pick(), all[1]);
    EXPECT_EQ(pool.size(), 1u);
    end(all[1]);
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_FALSE(pool.pick());
    EXPECT_FALSE(pool.pick_for(1));
    EXPECT_EQ(pool.broadcast(number{1}), 0u);
    const auto letters = sennit::dead_letters();
    pool.tell(number{1});
    EXPECT_EQ(sennit::dead_letters(), letters + 1);
    EXPECT_THROW(pool.ask(numbers{}).get(), sennit::ask_failed);
}

TEST_F(several, child_stays_member_across_its_restarts) {
    child<list> a{sennit::child_options{}}, b{sennit::child_options{}};
    sennit::router<list> pool;
    pool.add(a);
    pool.add(b);
    EXPECT_FALSE(pool.pick()) << "the children are not started yet";
    auto top = sennit::supervise(group, {}, a, b);
    int key = 0;
    while (pool.pick_for(key) != a.ref()) ++key;
    a.tell(fail_now{});
    until([&] { return a.restarts() == 1; });
    EXPECT_EQ(pool.pick_for(key), a.ref()) << "the restarted actor";
    EXPECT_EQ(pool.broadcast(number{1}), 2u);
    EXPECT_EQ(pool.size(), 2u);
    EXPECT_TRUE(pool.remove(a));
    EXPECT_EQ(pool.pick(), b.ref());
    top.ask(sennit::end_supervision{}).get();
    EXPECT_FALSE(pool.pick());
}

// ---- metrics

TEST_F(several, metrics_report_handled_and_waiting_messages) {
    auto one = group.spawn<list>({.name = "one", .mailbox = 10});
    auto two = group.spawn<list>();
    held in_hand;
    one.tell(in_hand);
    in_hand.begun->wait();
    for (int i = 0; i < 3; ++i) one.tell(number{i});
    const auto now = sennit::metrics_of(one);
    ASSERT_TRUE(now);
    EXPECT_EQ(now->who, one.address());
    EXPECT_EQ(now->name, "one");
    EXPECT_EQ(now->handled, 1u) << "the message in its handler";
    EXPECT_EQ(now->waiting, 3u);
    EXPECT_FALSE(sennit::metrics_of(two)->waiting) << "this mailbox does not count its messages";
    in_hand.until->set();
    EXPECT_EQ(seen(one).size(), 3u);
    EXPECT_EQ(sennit::metrics_of(one)->handled, 5u);
    EXPECT_EQ(sennit::metrics_of(one)->waiting, 0u);
    EXPECT_EQ(sennit::metrics_of(group).size(), 2u);
    end(one);
    EXPECT_FALSE(sennit::metrics_of(one));
    EXPECT_FALSE(sennit::metrics_of(actor_ref<list>()));
    const auto rest = sennit::metrics_of(group);
    ASSERT_EQ(rest.size(), 1u);
    EXPECT_EQ(rest[0].who, two.address());
}

TEST_F(several, metrics_may_be_read_while_actors_start_and_end) {
    std::atomic<bool> over{false};
    std::thread looker([&] {
        while (!over)
            for (const auto& one : sennit::metrics_of(group)) {
                EXPECT_TRUE(one.name.empty() || one.name == "a name");
                (void)group.find<list>("a name");
            }
    });
    for (int i = 0; i < 300; ++i) {
        auto one = group.spawn<list>({.name = "a name"});
        one.tell(number{i});
        one.stop();
    }
    group.join();
    over = true;
    looker.join();
}

} // namespace
} // namespace groups_of_actors_tests
