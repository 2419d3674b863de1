// SPDX-License-Identifier: Apache-2.0
// Tests user-defined orders, and the properties that they use. There is one worker, so that ready
// fibers wait while the body runs.
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <climits>
#include <memory>
#include <string>
#include <thread>
#include <typeinfo>
#include <utility>
#include <vector>

namespace {

sennit::runtime_options one_worker_by_priority() {
    return {.workers = 1, .order = sennit::make_order<sennit::priority_order>};
}

class by_priority : public testing::Test {
protected:
    sennit::runtime runtime{one_worker_by_priority()};
    std::string order;
    auto says(char who) {
        return [this, who] { order += who; };
    }
};

TEST_F(by_priority, highest_priority_runs_first_and_equals_run_in_arrival_order) {
    runtime.run([&] {
        std::vector<sennit::fiber> all;
        const std::pair<char, int> given[] = {{'d', 0}, {'f', -3},  {'a', 9}, {'b', 5},
                                              {'e', 0}, {'g', -99}, {'c', 5}};
        for (auto [who, priority] : given)
            all.emplace_back(sennit::fiber_attributes{.priority = priority}, says(who));
        for (auto& one : all) one.join();
    });
    EXPECT_EQ(order, "abcdefg");
}

TEST_F(by_priority, priority_of_unstarted_fiber_can_change) {
    runtime.run([&] {
        sennit::fiber a({.priority = 1}, says('a'));
        sennit::fiber b({.priority = 2}, says('b'));
        sennit::fiber c(says('c'));
        EXPECT_EQ(c.priority(), 0);
        c.set_priority(3);
        a.set_priority(4);
        EXPECT_EQ(a.priority(), 4);
        a.join();
        b.join();
        c.join();
    });
    EXPECT_EQ(order, "acb");
}

TEST_F(by_priority, priority_of_woken_fiber_can_change) {
    sennit::event go;
    std::vector<sennit::fiber> all;
    sennit::fiber director({.runtime = &runtime, .priority = -1}, [&] {
        for (char who : {'a', 'b', 'c'})
            all.emplace_back([&, who] {
                go.wait();
                order += who;
            });
        sennit::this_fiber::yield(); // All fibers wait.
        sennit::this_fiber::set_priority(10);
        go.set(); // All fibers are ready.
        all[2].set_priority(1);
    });
    director.join();
    for (auto& one : all) one.join();
    EXPECT_EQ(order, "cab");
}

TEST_F(by_priority, running_fiber_lowers_its_priority) {
    runtime.run([&] {
        sennit::fiber low({.priority = 1}, says('l'));
        sennit::fiber high({.priority = 5}, [&] {
            order += 'h';
            EXPECT_EQ(sennit::this_fiber::priority(), 5);
            sennit::this_fiber::set_priority(0);
            sennit::this_fiber::yield();
            order += 'H';
        });
        low.join();
        high.join();
    });
    EXPECT_EQ(order, "hlH");
}

TEST_F(by_priority, throwing_change_leaves_fiber_in_place) {
    runtime.run([&] {
        sennit::fiber a({.priority = 1}, says('a'));
        sennit::fiber b(says('b'));
        EXPECT_THROW(b.change_properties<sennit::fiber_properties>(
                         [](sennit::fiber_properties&) { throw 1; }),
                     int);
        a.join();
        b.join();
    });
    EXPECT_EQ(order, "ab");
}

TEST_F(by_priority, many_threads_change_priorities_of_many_fibers) {
    sennit::runtime many({.workers = 3, .order = sennit::make_order<sennit::priority_order>});
    std::vector<sennit::fiber> all;
    std::atomic<int> ended{0};
    for (int i = 0; i < 8; ++i)
        all.emplace_back(sennit::fiber_attributes{.runtime = &many}, [&] {
            for (int step = 0; step < 500; ++step) sennit::this_fiber::yield();
            ++ended;
        });
    std::vector<std::thread> outside;
    for (int t = 0; t < 2; ++t)
        outside.emplace_back([&, t] {
            for (int i = 0; i < 2'000; ++i)
                all[static_cast<std::size_t>(i * 3 + t) % 8].set_priority(i % 7);
        });
    for (auto& one : outside) one.join();
    for (auto& one : all) one.join();
    EXPECT_EQ(ended, 8);
}

// The order of the guide: earliest deadline first.
struct due : sennit::fiber_properties {
    explicit due(int at) : when(at) {}
    int when;
};
class earliest_first : public sennit::scheduling_order {
public:
    void push(sennit::ready_item& item) noexcept override { items_.push_back(item); }
    sennit::ready_item* pop() noexcept override {
        sennit::ready_item* best = items_.front();
        for (sennit::ready_item* at = best; at; at = sennit::ready_list::after(*at))
            if (when(*at) < when(*best)) best = at;
        if (best) items_.remove(*best);
        return best;
    }
    void remove(sennit::ready_item& item) noexcept override { items_.remove(item); }

private:
    static int when(const sennit::ready_item& item) noexcept {
        const auto* known = dynamic_cast<const due*>(sennit::properties_of(item));
        return known ? known->when : INT_MAX; // A fiber without a deadline comes last.
    }
    sennit::ready_list items_;
};

TEST(order, user_order_uses_user_properties) {
    sennit::runtime runtime({.workers = 1, .order = sennit::make_order<earliest_first>});
    std::string order;
    runtime.run([&] {
        std::vector<sennit::fiber> all;
        all.emplace_back([&] { order += 'z'; });
        for (auto [who, when] : {std::pair{'c', 30}, {'a', 10}, {'b', 20}})
            all.emplace_back(sennit::fiber_attributes{.properties = std::make_shared<due>(when)},
                             [&order, who] { order += who; });
        all[1].change_properties<due>([](due& own) { own.when = 15; });
        EXPECT_THROW(all[0].change_properties<due>([](due&) {}), std::bad_cast);
        for (auto& one : all) one.join();
    });
    EXPECT_EQ(order, "acbz");
}

TEST(order, fiber_has_priority_only_on_request) {
    sennit::runtime runtime({.workers = 1});
    runtime.run([] {
        sennit::fiber plain([] { EXPECT_EQ(sennit::this_fiber::priority(), 0); });
        EXPECT_THROW(plain.set_priority(1), std::bad_cast);
        sennit::fiber told({.priority = 3}, [] {});
        EXPECT_EQ(told.priority(), 3); // The priority is kept, though no order uses it.
        told.set_priority(4);
        EXPECT_EQ(told.priority(), 4);
        plain.join();
        told.join();
    });
    EXPECT_EQ(sennit::this_fiber::priority(), 0);
    EXPECT_THROW(sennit::this_fiber::set_priority(1), std::bad_cast);
    EXPECT_THROW(sennit::fiber().set_priority(1), std::bad_cast);
}

} // namespace
