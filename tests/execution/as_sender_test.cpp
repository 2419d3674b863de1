// SPDX-License-Identifier: Apache-2.0
// as_sender: completions of tasks, futures and other awaitables; cancellation; lifetimes.
#include "support.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace {

using sennit::task;

class senders : public with_workers {
protected:
    runtime_scheduler workers{runtime};
};
SENNIT_FOR_WORKERS(senders);

task<int> after_a_turn(int value) {
    co_await sennit::async_yield();
    co_return value;
}
task<std::unique_ptr<int>> make_box() {
    co_return std::make_unique<int>(7);
}
task<int&> refer(int& to) {
    co_await sennit::async_yield();
    co_return to;
}
task<int> fail() {
    co_await sennit::async_yield();
    throw std::runtime_error("failed");
}
task<> give_up() {
    co_await sennit::async_yield();
    throw sennit::cancelled();
}
task<> wait_for(sennit::event& set, counted held = counted(1)) {
    co_await set.async_wait();
    EXPECT_EQ(held.value, 1);
}

TEST_P(senders, task_completes_with_its_value_on_a_worker) {
    record<int> seen;
    auto operation = ex::connect(as_sender(workers, after_a_turn(5)), record_in(seen));
    ex::start(operation);
    seen.done.wait();
    EXPECT_EQ(seen.ended, completion::value);
    EXPECT_EQ(std::get<0>(*seen.values), 5);
    EXPECT_EQ(seen.completed_on, &runtime.core());
}

TEST_P(senders, void_move_only_and_reference_results_arrive) {
    int there = 3;
    const auto nothing = [](sennit::latch& done) -> task<> {
        done.count_down();
        co_return;
    };
    sennit::latch done(1);
    EXPECT_TRUE(sync_wait(as_sender(workers, nothing(done))));
    EXPECT_TRUE(done.try_wait());
    EXPECT_EQ(*std::get<0>(*sync_wait(as_sender(workers, make_box()))), 7);
    int* seen = nullptr;
    sync_wait(as_sender(workers, refer(there)) | ex::then([&](int& it) { seen = &it; }));
    EXPECT_EQ(seen, &there);
}

TEST_P(senders, exception_becomes_set_error_and_cancelled_becomes_set_stopped) {
    record<int> failed;
    auto fails = ex::connect(as_sender(workers, fail()), record_in(failed));
    ex::start(fails);
    failed.done.wait();
    EXPECT_EQ(failed.ended, completion::error);
    EXPECT_EQ(message_of(failed.error), "failed");
    record<> stopped;
    auto stops = ex::connect(as_sender(workers, give_up()), record_in(stopped));
    ex::start(stops);
    stopped.done.wait();
    EXPECT_EQ(stopped.ended, completion::stopped);
}

// A value whose move throws at the time that `moves` reaches zero.
struct throwing {
    explicit throwing(int* moves) : left(moves) {}
    throwing(throwing&& other) : left(other.left) {
        if (--*left < 0) throw std::runtime_error("move");
    }
    int* left;
};
TEST_P(senders, value_whose_move_throws_becomes_set_error) {
    for (int moves = 0; moves < 2; ++moves) {
        int left = moves;
        const auto make = [](int* count) -> task<throwing> { co_return throwing(count); };
        record<throwing> seen;
        auto operation = ex::connect(as_sender(workers, make(&left)), record_in(seen));
        ex::start(operation);
        seen.done.wait();
        EXPECT_EQ(seen.ended, completion::error);
        EXPECT_EQ(message_of(seen.error), "move");
    }
}

TEST_P(senders, futures_and_async_members_are_awaited) {
    sennit::promise<std::string> promised;
    record<std::string> seen;
    auto operation = ex::connect(as_sender(workers, promised.get_future()), record_in(seen));
    ex::start(operation);
    promised.set_value("kept");
    seen.done.wait();
    EXPECT_EQ(std::get<0>(*seen.values), "kept");

    sennit::promise<int> broken;
    auto from = broken.get_future();
    broken.set_exception(std::make_exception_ptr(std::runtime_error("broken")));
    EXPECT_THROW(sync_wait(as_sender(workers, std::move(from))), std::runtime_error);

    sennit::promise<int> several;
    const sennit::shared_future<int> shared = several.get_future().share();
    several.set_value(9);
    for (int i = 0; i < 2; ++i) EXPECT_EQ(std::get<0>(*sync_wait(as_sender(workers, shared))), 9);

    sennit::channel<int> numbers;
    sennit::fiber pusher([&] { numbers.push(4); });
    EXPECT_EQ(std::get<0>(*sync_wait(as_sender(workers, numbers.async_pop()))), 4);
    pusher.join();
    numbers.close();
    EXPECT_EQ(std::get<0>(*sync_wait(as_sender(workers, numbers.async_pop()))), std::nullopt);
}

TEST_P(senders, stop_request_cancels_the_task_where_it_waits) {
    sennit::event never;
    ex_std::inplace_stop_source stop;
    record<> seen;
    sennit::event begun;
    const auto body = [&]() -> task<> {
        begun.set();
        co_await wait_for(never);
    };
    auto operation = ex::connect(as_sender(workers, body()), record_in(seen, stop));
    ex::start(operation);
    begun.wait();
    EXPECT_EQ(seen.ended, completion::none);
    stop.request_stop();
    seen.done.wait();
    EXPECT_EQ(seen.ended, completion::stopped);
    EXPECT_EQ(seen.completed_on, &runtime.core());
}

TEST_P(senders, task_may_catch_the_stop_and_return_a_value) {
    sennit::event never, begun;
    ex_std::inplace_stop_source stop;
    record<int> seen;
    const auto body = [&]() -> task<int> {
        begun.set();
        bool was_cancelled = false;
        try {
            co_await never.async_wait();
        } catch (const sennit::cancelled&) {
            was_cancelled = true;
        }
        co_return was_cancelled ? 1 : 0;
    };
    auto operation = ex::connect(as_sender(workers, body()), record_in(seen, stop));
    ex::start(operation);
    begun.wait();
    stop.request_stop();
    seen.done.wait();
    EXPECT_EQ(std::get<0>(*seen.values), 1);
}

TEST_P(senders, task_never_begins_if_the_stop_came_before_the_start) {
    ex_std::inplace_stop_source stop;
    stop.request_stop();
    record<> seen;
    bool begun = false;
    const auto body = [&begun](counted) -> task<> {
        begun = true;
        co_return;
    };
    auto operation = ex::connect(as_sender(workers, body(counted(1))), record_in(seen, stop));
    ex::start(operation);
    seen.done.wait();
    EXPECT_EQ(seen.ended, completion::stopped);
    EXPECT_FALSE(begun);
}

TEST_P(senders, task_may_request_its_own_stop) {
    ex_std::inplace_stop_source stop;
    record<> seen;
    sennit::event never;
    const auto body = [&]() -> task<> {
        stop.request_stop();
        co_await never.async_wait();
    };
    auto operation = ex::connect(as_sender(workers, body()), record_in(seen, stop));
    ex::start(operation);
    seen.done.wait();
    EXPECT_EQ(seen.ended, completion::stopped);
}

TEST_P(senders, stop_request_may_race_with_the_end) {
    for (int round = 0; round < 300; ++round) {
        ex_std::inplace_stop_source stop;
        record<> seen;
        sennit::event go;
        auto operation = ex::connect(as_sender(workers, wait_for(go)), record_in(seen, stop));
        ex::start(operation);
        std::thread stopper([&] { stop.request_stop(); });
        go.set();
        seen.done.wait();
        EXPECT_TRUE(seen.ended == completion::value || seen.ended == completion::stopped);
        stopper.join();
    }
}

TEST_P(senders, unused_sender_and_unstarted_operation_destroy_the_task) {
    sennit::event never;
    {
        auto unused = as_sender(workers, wait_for(never));
    }
    EXPECT_EQ(counted::alive(), 0);
    record<> seen;
    {
        auto unstarted = ex::connect(as_sender(workers, wait_for(never)), record_in(seen));
    }
    EXPECT_EQ(counted::alive(), 0);
    EXPECT_EQ(seen.ended, completion::none);
}

// The completion runs as a strand of its own: it may lock the mutex of the task, and block.
TEST_P(senders, receiver_may_lock_and_block) {
    sennit::mutex lock;
    sennit::event other_ran;
    const auto body = [&]() -> task<int> {
        co_await lock.async_lock();
        co_await sennit::async_yield();
        lock.unlock();
        co_return 1;
    };
    sennit::event blocks;
    const auto receive = [&](int value) {
        std::scoped_lock held(lock);
        blocks.set();
        other_ran.wait();
        return value;
    };
    sennit::fiber other([&] {
        blocks.wait();
        sync_wait(ex::schedule(workers) | ex::then([&] { other_ran.set(); }));
    });
    EXPECT_EQ(std::get<0>(*sync_wait(as_sender(workers, body()) | ex::then(receive))), 1);
    other.join();
}

TEST_P(senders, completion_may_free_the_operation_and_block) {
    start_freeing(100, [this] { return as_sender(workers, after_a_turn(1)); });
}

TEST_P(senders, sender_without_scheduler_uses_the_runtime_of_the_caller) {
    record<int> seen;
    runtime.run([&] {
        auto operation = ex::connect(as_sender(after_a_turn(1)), record_in(seen));
        ex::start(operation);
        seen.done.wait();
    });
    EXPECT_EQ(seen.completed_on, &runtime.core());
    const auto outside = as_sender(after_a_turn(1));
    EXPECT_EQ(ex::get_completion_scheduler<ex::set_value_t>(ex::get_env(outside)),
              runtime_scheduler(sennit::default_runtime()));
}

} // namespace
