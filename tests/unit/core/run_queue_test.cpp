// SPDX-License-Identifier: Apache-2.0
// Tests the run queue: the order of tasks for the owner and for thieves.
#include "core/queues/run_queue.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace {

using sennit::sched::run_queue;
using sennit::sched::runnable;

void one_kind(runnable*) noexcept {}
void other_kind(runnable*) noexcept {}

struct piece : runnable {
    explicit piece(void (*kind)(runnable*) noexcept = &one_kind) : runnable(kind) {}
    std::atomic<int> taken{0};
};

std::vector<runnable*> all_of(run_queue::batch& batch) {
    std::vector<runnable*> all;
    while (runnable* one = batch.woken.pop_front()) all.push_back(one);
    while (runnable* one = batch.spawned.pop_front()) all.push_back(one);
    return all;
}
using row = std::vector<runnable*>;

TEST(run_queue, new_queue_is_empty) {
    run_queue queue;
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(queue.pop(), nullptr);
    run_queue::batch stolen_batch;
    EXPECT_EQ(queue.steal_half(stolen_batch), 0u);
    EXPECT_EQ(queue.take_half(stolen_batch), 0u);
    EXPECT_TRUE(all_of(stolen_batch).empty());
}

TEST(run_queue, pop_returns_woken_tasks_in_order_then_newest_spawned) {
    run_queue queue;
    piece a, b, c, d, e;
    EXPECT_EQ(queue.push_spawned(a), 1u);
    EXPECT_EQ(queue.push_woken(b), 2u);
    EXPECT_EQ(queue.push_spawned(c), 3u);
    EXPECT_EQ(queue.push_woken(d), 4u);
    EXPECT_EQ(queue.push_woken_first(e), 5u);
    row order;
    while (runnable* one = queue.pop()) order.push_back(one);
    EXPECT_EQ(order, (row{&e, &b, &d, &c, &a}));
}

TEST(run_queue, pop_returns_younger_spawned_task_before_oldest_woken_one) {
    run_queue queue;
    piece parent, elder, child;
    queue.push_spawned(elder);
    parent.order = queue.present(); // The parent begins.
    queue.push_spawned(child);
    queue.push_woken(parent);
    EXPECT_EQ(queue.pop(), &child);
    EXPECT_EQ(queue.pop(), &parent);
    EXPECT_EQ(queue.pop(), &elder);
}

TEST(run_queue, blocking_context_gets_oldest_woken_task) {
    run_queue queue;
    piece parent, child;
    parent.order = queue.present(); // The parent begins.
    queue.push_spawned(child);
    queue.push_woken(parent);
    EXPECT_EQ(queue.pop_woken_if(&one_kind), &parent);
    EXPECT_EQ(queue.pop(), &child);
}

TEST(run_queue, pop_alternating_alternates_between_both_kinds) {
    run_queue queue;
    piece ready[3], spawned[4];
    for (piece& one : ready) queue.push_woken(one);
    for (piece& one : spawned) queue.push_spawned(one);
    bool oldest = false;
    const auto next = [&] { return queue.pop_alternating([&] { return oldest; }); };
    row order{next(), next(), next()};
    oldest = true;
    for (int i = 0; i < 4; ++i) order.push_back(next());
    EXPECT_EQ(order, (row{&spawned[3], &ready[0], &spawned[2], &ready[1], &spawned[0], &ready[2],
                          &spawned[1]}));
    EXPECT_EQ(next(), nullptr);
}

TEST(run_queue, thief_gets_older_half_and_woken_tasks_first) {
    run_queue queue;
    piece a, b, c, d, e;
    queue.push_spawned(a);
    queue.push_spawned(b);
    queue.push_woken(c);
    queue.push_spawned(d);
    queue.push_spawned(e);
    std::thread([&] {
        run_queue::batch stolen_batch;
        EXPECT_EQ(queue.steal_half(stolen_batch), 3u);
        EXPECT_EQ(all_of(stolen_batch), (row{&c, &a, &b}));
    }).join();
    EXPECT_EQ(queue.size(), 2u);
    EXPECT_EQ(queue.pop(), &e);
    std::thread([&] {
        run_queue::batch stolen_batch;
        EXPECT_EQ(queue.steal_half(stolen_batch), 1u) << "a thief takes even the last task";
        EXPECT_EQ(all_of(stolen_batch), (row{&d}));
    }).join();
    EXPECT_TRUE(queue.empty());
}

TEST(run_queue, host_takes_woken_tasks_of_other_worker_only) {
    run_queue queue;
    piece a, b, c, d;
    queue.push_spawned(a);
    queue.push_woken(b);
    queue.push_spawned(c);
    queue.push_woken(d);
    std::thread([&] {
        run_queue::batch gathered;
        queue.steal_woken(gathered, [] {});
        EXPECT_EQ(gathered.count, 2u);
        EXPECT_EQ(all_of(gathered), (row{&b, &d}));
    }).join();
    EXPECT_EQ(queue.size(), 2u);
    EXPECT_EQ(queue.pop(), &c);
    EXPECT_EQ(queue.pop(), &a);
}

TEST(run_queue, host_shares_oldest_new_tasks_only) {
    run_queue queue;
    piece a, b, c, d;
    run_queue::batch gift;
    queue.push_woken(a);
    queue.push_woken(b);
    EXPECT_EQ(queue.take_new_half(gift), 0u);
    queue.push_spawned(c);
    queue.push_spawned(d);
    EXPECT_EQ(queue.take_new_half(gift), 2u);
    EXPECT_EQ(all_of(gift), (row{&c, &d}));
    EXPECT_EQ(queue.size(), 2u);
}

TEST(run_queue, owner_keeps_one_task_when_it_shares) {
    run_queue queue;
    piece a, b, c;
    queue.push_woken(a);
    run_queue::batch gift;
    EXPECT_EQ(queue.take_half(gift), 0u);
    queue.push_woken(b);
    queue.push_woken(c);
    EXPECT_EQ(queue.take_half(gift), 1u);
    EXPECT_EQ(all_of(gift), (row{&a}));
    EXPECT_EQ(queue.size(), 2u);
}

TEST(run_queue, stolen_spawned_tasks_run_last_and_are_stolen_first) {
    run_queue mine, theirs;
    piece own, stolen[3], kept[3];
    mine.push_spawned(own);
    for (piece& one : stolen) theirs.push_spawned(one);
    for (piece& one : kept) theirs.push_spawned(one);
    run_queue::batch stolen_batch;
    std::thread([&] { theirs.steal_half(stolen_batch); }).join();
    EXPECT_EQ(mine.append_batch(stolen_batch), 4u);
    EXPECT_EQ(stolen_batch.count, 0u);
    EXPECT_EQ(mine.pop(), &own);
    EXPECT_EQ(mine.pop(), &stolen[2]) << "the thief is depth-first, too";
    run_queue::batch again;
    std::thread([&] { mine.steal_half(again); }).join();
    EXPECT_EQ(all_of(again), (row{&stolen[0]})) << "the oldest spawned task is stolen first";
}

TEST(run_queue, stolen_spawned_task_runs_after_woken_tasks) {
    run_queue mine, theirs;
    piece parent, stolen;
    parent.order = mine.present();
    mine.push_woken(parent);
    theirs.push_spawned(stolen);
    run_queue::batch stolen_batch;
    std::thread([&] { theirs.steal_half(stolen_batch); }).join();
    mine.append_batch(stolen_batch);
    EXPECT_EQ(mine.pop(), &parent);
    EXPECT_EQ(mine.pop(), &stolen);
}

TEST(run_queue, stolen_woken_task_runs_after_own_woken_tasks) {
    run_queue mine, theirs;
    piece a, b, c;
    mine.push_woken(a);
    theirs.push_woken(b);
    theirs.push_woken(c);
    run_queue::batch stolen_batch;
    std::thread([&] { theirs.steal_half(stolen_batch); }).join();
    EXPECT_EQ(mine.append_batch(stolen_batch), 2u);
    EXPECT_EQ(mine.pop(), &a);
    EXPECT_EQ(mine.pop(), &b);
    EXPECT_EQ(theirs.pop(), &c);
}

TEST(run_queue, owner_takes_back_only_newest_spawned_task) {
    run_queue queue;
    piece a, b, c;
    queue.push_spawned(a);
    queue.push_spawned(b);
    queue.push_woken(c);
    EXPECT_FALSE(queue.pop_newest_if(a));
    EXPECT_FALSE(queue.pop_newest_if(c));
    EXPECT_TRUE(queue.pop_newest_if(b));
    EXPECT_TRUE(queue.pop_newest_if(a));
    EXPECT_FALSE(queue.pop_newest_if(a));
    EXPECT_EQ(queue.size(), 1u);
}

TEST(run_queue, pop_woken_if_returns_only_matching_task) {
    run_queue queue;
    piece a(&other_kind), b;
    queue.push_woken(a);
    queue.push_woken(b);
    EXPECT_EQ(queue.pop_woken_if(&one_kind), nullptr);
    EXPECT_EQ(queue.pop_woken_if(&other_kind), &a);
    EXPECT_EQ(queue.pop_woken_if(&one_kind), &b);
    EXPECT_EQ(queue.pop_woken_if(&one_kind), nullptr);
    EXPECT_TRUE(queue.empty());
}

TEST(run_queue, newest_spawned_task_is_promoted_if_none_is_woken) {
    run_queue queue;
    piece a, b, yields;
    queue.promote_newest_if_none_is_woken(); // An empty queue stays empty.
    queue.push_spawned(a);
    queue.push_spawned(b);
    yields.order = queue.present(); // `yields` is younger than both.
    queue.promote_newest_if_none_is_woken();
    queue.promote_newest_if_none_is_woken(); // A promoted task is ready already.
    EXPECT_EQ(queue.size(), 2u);
    queue.push_woken(yields);
    EXPECT_EQ(queue.pop(), &b);
    EXPECT_EQ(queue.pop(), &yields);
    EXPECT_EQ(queue.pop(), &a);
}

TEST(run_queue, exchange_returns_oldest_woken_task_and_excludes_thieves) {
    run_queue queue;
    piece a, b, self;
    EXPECT_EQ(queue.begin_exchange(self, &one_kind), nullptr);
    queue.push_woken(a);
    EXPECT_EQ(queue.begin_exchange(self, &other_kind), nullptr);
    EXPECT_EQ(queue.begin_exchange(self, &one_kind), &a);
    std::thread([&] {
        run_queue::batch stolen_batch;
        EXPECT_EQ(queue.steal_half(stolen_batch), 0u);
    }).join();
    queue.end_exchange();
    EXPECT_EQ(queue.size(), 1u);
    EXPECT_EQ(queue.pop(), &self);
    queue.push_woken(a);
    queue.push_spawned(b);
    EXPECT_EQ(queue.begin_exchange(self, &one_kind), &a)
        << "spawned tasks get their turns at global polls";
    queue.end_exchange();
}

TEST(run_queue, each_task_is_taken_once) {
    constexpr int rounds = 3'000;
    run_queue queue;
    std::vector<std::unique_ptr<piece>> pieces;
    for (int i = 0; i < rounds; ++i) pieces.push_back(std::make_unique<piece>());
    std::atomic<bool> over{false};
    std::vector<std::thread> thieves;
    for (int i = 0; i < 2; ++i)
        thieves.emplace_back([&] {
            while (!over) {
                run_queue::batch stolen_batch;
                queue.steal_half(stolen_batch);
                for (runnable* one : all_of(stolen_batch))
                    static_cast<piece*>(one)->taken.fetch_add(1);
                std::this_thread::yield();
            }
        });
    for (int i = 0; i < rounds; ++i) {
        piece& next = *pieces[static_cast<std::size_t>(i)];
        if (i % 3 == 0)
            queue.push_woken(next);
        else
            queue.push_spawned(next);
        if (i % 2 == 0)
            if (runnable* one = queue.pop()) static_cast<piece*>(one)->taken.fetch_add(1);
    }
    over = true;
    for (std::thread& one : thieves) one.join();
    while (runnable* one = queue.pop()) static_cast<piece*>(one)->taken.fetch_add(1);
    for (const auto& one : pieces) ASSERT_EQ(one->taken, 1);
    EXPECT_TRUE(queue.empty());
}

} // namespace
