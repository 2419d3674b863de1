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
    while (runnable* one = batch.pop()) all.push_back(one);
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
    EXPECT_EQ(queue.pop_ready_if(&one_kind), &parent);
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
        queue.steal_ready(gathered, [] {});
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

TEST(run_queue, owner_shares_yielded_tasks_first) {
    run_queue queue;
    piece woken[2], yielded, spawned;
    queue.push_spawned(spawned);
    for (piece& one : woken) queue.push_woken(one);
    queue.push_yielded(yielded);
    run_queue::batch gift;
    EXPECT_EQ(queue.take_half(gift), 2u);
    EXPECT_EQ(all_of(gift), (row{&woken[0], &yielded}));
    EXPECT_EQ(queue.take_half(gift), 1u);
    EXPECT_EQ(all_of(gift), (row{&woken[1]}));
    EXPECT_EQ(queue.pop(), &spawned);
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

TEST(run_queue, pop_ready_if_returns_only_matching_task) {
    run_queue queue;
    piece a(&other_kind), b;
    queue.push_woken(a);
    queue.push_woken(b);
    EXPECT_EQ(queue.pop_ready_if(&one_kind), nullptr);
    EXPECT_EQ(queue.pop_ready_if(&other_kind), &a);
    EXPECT_EQ(queue.pop_ready_if(&one_kind), &b);
    EXPECT_EQ(queue.pop_ready_if(&one_kind), nullptr);
    EXPECT_TRUE(queue.empty());
}

TEST(run_queue, newest_spawned_task_is_promoted_if_none_is_woken) {
    run_queue queue;
    piece a, b, yields;
    queue.promote_newest_if_it_is_next(); // An empty queue stays empty.
    queue.push_spawned(a);
    queue.push_spawned(b);
    yields.order = queue.present(); // `yields` is younger than both.
    queue.promote_newest_if_it_is_next();
    queue.promote_newest_if_it_is_next(); // A promoted task is ready already.
    EXPECT_EQ(queue.size(), 2u);
    queue.push_yielded(yields);
    EXPECT_EQ(queue.pop(), &b);
    EXPECT_EQ(queue.pop(), &a);
    EXPECT_EQ(queue.pop(), &yields);
}

TEST(run_queue, woken_task_goes_before_yielded_ones) {
    run_queue queue;
    piece yielded[2], woken[2], self;
    queue.push_yielded(yielded[0]);
    queue.push_woken(woken[0]);
    queue.push_yielded(yielded[1]);
    queue.push_woken(woken[1]);
    EXPECT_EQ(queue.pop_ready_if(&one_kind), &woken[0]);
    EXPECT_EQ(queue.exchange(self, &one_kind), &woken[1]) << "the caller yields";
    EXPECT_EQ(queue.size(), 3u);
    row order;
    while (runnable* one = queue.pop_ready_if(&one_kind)) order.push_back(one);
    EXPECT_EQ(order, (row{&yielded[0], &yielded[1], &self}));
    EXPECT_TRUE(queue.empty());
}

// `count` tasks that have yielded, and a new task that was spawned before they began.
struct yielded_and_new {
    explicit yielded_and_new(std::uint32_t count) {
        queue.push_spawned(fresh);
        for (std::uint32_t i = 0; i < count; ++i) {
            yielded.push_back(std::make_unique<piece>());
            yielded.back()->order = queue.present();
            queue.push_yielded(*yielded.back());
        }
    }
    run_queue queue;
    piece fresh, self;
    std::vector<std::unique_ptr<piece>> yielded;
};
constexpr std::uint32_t few = sennit::sched::tuning::yielded_before_new - 1;

TEST(run_queue, new_task_goes_before_few_yielded_ones) {
    yielded_and_new blocks(few), ends(few), yields(few);
    EXPECT_EQ(blocks.queue.pop_ready_if(&one_kind), nullptr) << "the loop decides";
    EXPECT_EQ(ends.queue.pop(), &ends.fresh);
    EXPECT_EQ(yields.queue.exchange(yields.self, &one_kind), nullptr) << "the loop decides";
    EXPECT_EQ(ends.queue.pop_ready_if(&one_kind), ends.yielded[0].get()) << "no new one is left";
}

TEST(run_queue, new_task_waits_for_many_yielded_ones) {
    yielded_and_new blocks(few + 1), ends(few + 1), yields(few + 1);
    EXPECT_EQ(blocks.queue.pop_ready_if(&one_kind), blocks.yielded[0].get());
    EXPECT_EQ(ends.queue.pop(), ends.yielded[0].get());
    yields.self.order = yields.queue.present(); // It has begun.
    EXPECT_EQ(yields.queue.exchange(yields.self, &one_kind), yields.yielded[0].get());
    piece child;
    yields.queue.push_spawned(child);
    EXPECT_EQ(yields.queue.pop(), &child) << "it is younger than all yielded ones";
}

TEST(run_queue, global_polls_continue_each_kind_by_turns) {
    run_queue queue;
    piece woken[2], yielded[2], spawned[2];
    for (int i = 0; i < 2; ++i) {
        queue.push_yielded(yielded[i]);
        queue.push_woken(woken[i]);
        queue.push_spawned(spawned[i]);
    }
    const auto next = [&] { return queue.pop_alternating([] { return true; }); };
    row order;
    for (int i = 0; i < 6; ++i) order.push_back(next());
    // One yielded task has continued at the third poll, so the fourth need not continue another.
    EXPECT_EQ(order,
              (row{&spawned[0], &woken[0], &yielded[0], &spawned[1], &woken[1], &yielded[1]}));
}

TEST(run_queue, global_poll_skips_yielded_tasks_that_continue_anyway) {
    run_queue queue;
    piece woken[2], yielded[2];
    for (piece& one : yielded) queue.push_yielded(one);
    EXPECT_EQ(queue.pop(), &yielded[0]);
    for (piece& one : woken) queue.push_woken(one);
    const auto next = [&] { return queue.pop_alternating([] { return true; }); };
    EXPECT_EQ(next(), &woken[0]);
    EXPECT_EQ(next(), &yielded[1]) << "none has continued since the last poll";
    EXPECT_EQ(next(), &woken[1]);
}

TEST(run_queue, stolen_yielded_task_runs_after_woken_tasks_of_thief) {
    run_queue mine, theirs;
    piece woken[2], yielded[2];
    theirs.push_yielded(yielded[0]);
    theirs.push_yielded(yielded[1]);
    mine.push_woken(woken[0]);
    run_queue::batch stolen_batch;
    std::thread([&] { theirs.steal_half(stolen_batch); }).join();
    EXPECT_EQ(mine.append_batch(stolen_batch), 2u);
    mine.push_woken(woken[1]);
    EXPECT_EQ(mine.pop(), &woken[0]);
    EXPECT_EQ(mine.pop(), &woken[1]);
    EXPECT_EQ(mine.pop(), &yielded[0]);
}

TEST(run_queue, thief_gets_woken_tasks_before_yielded_ones) {
    run_queue queue;
    piece yielded[2], woken, spawned;
    queue.push_spawned(spawned);
    for (piece& one : yielded) queue.push_yielded(one);
    queue.push_woken(woken);
    std::thread([&] {
        run_queue::batch stolen_batch;
        EXPECT_EQ(queue.steal_half(stolen_batch), 2u);
        EXPECT_EQ(all_of(stolen_batch), (row{&woken, &yielded[0]}));
        queue.steal_ready(stolen_batch, [] {});
        EXPECT_EQ(all_of(stolen_batch), (row{&yielded[1]}));
    }).join();
    EXPECT_EQ(queue.size(), 1u);
    EXPECT_EQ(queue.pop(), &spawned);
}

TEST(run_queue, runnable_that_ends_batch_goes_behind_all_ready_ones) {
    run_queue queue;
    piece flooded, woken, next_batch;
    queue.push_yielded(next_batch);
    queue.push_woken(woken);
    runnable* next = nullptr;
    const auto no_message = [](bool) -> runnable* { return nullptr; };
    EXPECT_EQ(queue.end_and_pop(flooded, [] { return true; }, no_message, &one_kind, next), 2u);
    EXPECT_EQ(next, &woken);
    EXPECT_EQ(queue.push_yielded_if(woken, [] { return false; }), 0u);
    EXPECT_EQ(queue.push_yielded_if(woken, [] { return true; }), 3u);
    row order;
    while (runnable* one = queue.pop()) order.push_back(one);
    EXPECT_EQ(order, (row{&next_batch, &flooded, &woken}));
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
        else if (i % 3 == 1)
            queue.push_yielded(next);
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
