// SPDX-License-Identifier: Apache-2.0
// Names, topics, routers and metrics: what several actors have together.
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
    void on(fail_now) { throw std::runtime_error("as wanted"); }
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

TEST_F(several, an_actor_is_found_by_its_name_and_class) {
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

TEST_F(several, a_taken_name_is_refused_with_a_clear_error) {
    sennit::name_registry names;
    auto one = group.spawn<list>();
    names.put("one", one);
    names.put("one", one); // once more changes nothing
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

TEST_F(several, a_name_is_free_when_its_actor_has_ended) {
    sennit::name_registry names;
    for (int i = 0; i < 300; ++i) { // names that nobody asks for go away by themselves
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
TEST_F(several, who_is_told_of_an_end_finds_the_name_free) {
    for (int i = 0; i < 50; ++i) {
        sennit::name_registry names;
        auto holder = group.spawn<list>();
        names.put("role", holder);
        auto heir = group.spawn<on_end>(names, holder);
        auto took_it = heir.ask(numbers{});
        until([&] { return sennit::metrics_of(heir)->handled == 1; }); // or the news would be first
        holder.stop();
        EXPECT_EQ(took_it.get(), std::vector<int>{1});
        heir.stop();
    }
}

TEST_F(several, many_want_one_name_and_one_gets_it) {
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

TEST_F(several, subscribers_are_told_until_they_unsubscribe) {
    sennit::topic<number> topic;
    auto all = spawn(3);
    EXPECT_EQ(topic.publish(number{0}), 0u);
    for (const auto& one : all) topic.subscribe(one);
    topic.subscribe(all[0]); // once all the same
    EXPECT_EQ(topic.publish(number{1}), 3u);
    EXPECT_TRUE(topic.unsubscribe(all[1]));
    EXPECT_FALSE(topic.unsubscribe(all[1]));
    EXPECT_EQ(topic.publish(number{2}), 2u);
    EXPECT_EQ(seen(all[0]), (std::vector<int>{1, 2}));
    EXPECT_EQ(seen(all[1]), (std::vector<int>{1}));
    EXPECT_EQ(seen(all[2]), (std::vector<int>{1, 2}));
}

TEST_F(several, a_subscriber_that_has_ended_is_dropped_without_a_dead_letter) {
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

TEST_F(several, a_constructor_may_subscribe_and_take_a_name) {
    sennit::topic<number> topic;
    sennit::name_registry names;
    auto one = group.spawn<list>(topic, names);
    EXPECT_EQ(topic.publish(number{1}), 1u);
    EXPECT_EQ(seen(one), std::vector<int>{1});
    EXPECT_EQ(names.find<list>("made"), one);
}

TEST_F(several, all_subscribers_get_a_topics_messages_in_one_order) {
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

TEST_F(several, subscribers_end_while_it_is_published) {
    sennit::topic<number> topic;
    std::atomic<bool> over{false};
    std::thread publisher([&] {
        while (!over) topic.publish(number{1});
    });
    for (int i = 0; i < 200; ++i) {
        auto one = group.spawn<list>(); // its mailbox takes what comes until it ends
        topic.subscribe(one);
        one.kill();
    }
    group.join();
    over = true;
    publisher.join();
    EXPECT_EQ(topic.size(), 0u);
}

// ---- routers

TEST_F(several, round_robin_takes_one_after_the_other) {
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

TEST_F(several, random_routing_reaches_everybody_in_the_end) {
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

TEST_F(several, least_full_takes_who_has_the_fewest_messages) {
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
    pool.tell(number{1}); // 2 1 1
    pool.tell(number{2});
    pool.tell(number{3}); // 2 2 2
    for (const auto& one : all) EXPECT_EQ(sennit::metrics_of(one)->waiting, 2u);
    for (const auto& one : in_hand) one.until->set();
}

TEST_F(several, a_key_belongs_to_one_member_and_moves_only_when_that_ends) {
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
        EXPECT_EQ(same.pick_for(key), owner[key]) << "routers agree";
        ++share[owner[key].address().slot];
    }
    for (const auto& [slot, keys] : share) EXPECT_GT(keys, 100) << "of 1000, for one of five";
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

TEST_F(several, a_broadcast_reaches_all_members) {
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

TEST_F(several, members_that_have_ended_are_dropped_and_without_any_messages_are_dead_letters) {
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

TEST_F(several, a_child_stays_a_member_over_its_restarts) {
    child<list> a{sennit::child_options{}}, b{sennit::child_options{}};
    sennit::router<list> pool;
    pool.add(a);
    pool.add(b);
    EXPECT_FALSE(pool.pick()) << "they are not started yet";
    auto top = sennit::supervise(group, {}, a, b);
    int key = 0;
    while (pool.pick_for(key) != a.ref()) ++key;
    a.tell(fail_now{});
    until([&] { return a.restarts() == 1; });
    EXPECT_EQ(pool.pick_for(key), a.ref()) << "the new one";
    EXPECT_EQ(pool.broadcast(number{1}), 2u);
    EXPECT_EQ(pool.size(), 2u);
    EXPECT_TRUE(pool.remove(a));
    EXPECT_EQ(pool.pick(), b.ref());
    top.ask(sennit::end_supervision{}).get();
    EXPECT_FALSE(pool.pick());
}

// ---- metrics

TEST_F(several, metrics_tell_what_was_handled_and_what_waits) {
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
    EXPECT_EQ(now->handled, 1u) << "the one in hand";
    EXPECT_EQ(now->waiting, 3u);
    EXPECT_FALSE(sennit::metrics_of(two)->waiting) << "nobody counts";
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

TEST_F(several, metrics_are_looked_at_while_actors_come_and_go) {
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
