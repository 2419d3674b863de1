// SPDX-License-Identifier: Apache-2.0
// runtime_scheduler: where operations complete, stop requests, blocking receivers.
#include "support.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace {

static_assert(ex::scheduler<runtime_scheduler>);
static_assert(ex::sender<decltype(ex::schedule(std::declval<runtime_scheduler&>()))>);

class schedulers : public with_workers {
protected:
    runtime_scheduler workers{runtime};
};
SENNIT_FOR_WORKERS(schedulers);

TEST_P(schedulers, operation_completes_on_a_worker_of_the_runtime) {
    record<> seen;
    auto operation = ex::connect(ex::schedule(workers), record_in(seen));
    ex::start(operation);
    seen.done.wait();
    EXPECT_EQ(seen.ended, completion::value);
    EXPECT_EQ(seen.completed_on, &runtime.core());
}

TEST_P(schedulers, default_is_the_runtime_of_the_caller) {
    runtime.run([this] { EXPECT_EQ(runtime_scheduler(), workers); });
    EXPECT_EQ(runtime_scheduler(), runtime_scheduler(sennit::default_runtime()));
    EXPECT_NE(runtime_scheduler(), workers);
}

TEST_P(schedulers, queries_name_the_scheduler_and_its_guarantee) {
    const auto sender = ex::schedule(workers);
    EXPECT_EQ(ex::get_completion_scheduler<ex::set_value_t>(ex::get_env(sender)), workers);
    EXPECT_EQ(ex::get_forward_progress_guarantee(workers),
              ex::forward_progress_guarantee::parallel);
}

TEST_P(schedulers, stop_requested_before_the_start_ends_in_set_stopped_on_a_worker) {
    ex_std::inplace_stop_source stop;
    stop.request_stop();
    record<> seen;
    auto operation = ex::connect(ex::schedule(workers), record_in(seen, stop));
    ex::start(operation);
    seen.done.wait();
    EXPECT_EQ(seen.ended, completion::stopped);
    EXPECT_EQ(seen.completed_on, &runtime.core());
}

TEST_P(schedulers, stop_requested_while_queued_ends_in_set_stopped) {
    // All workers compute until the stop has been requested, so the operation cannot begin.
    ex_std::inplace_stop_source stop;
    record<> seen;
    std::atomic<unsigned> computing = 0;
    std::atomic<bool> go_on = false;
    std::vector<sennit::future<void>> blockers;
    for (unsigned i = 0; i < GetParam(); ++i)
        blockers.push_back(runtime.run([&] {
            return sennit::async([&] {
                ++computing;
                while (!go_on) std::this_thread::yield();
            });
        }));
    while (computing != GetParam()) std::this_thread::yield();
    auto operation = ex::connect(ex::schedule(workers), record_in(seen, stop));
    ex::start(operation);
    stop.request_stop();
    go_on = true;
    seen.done.wait();
    EXPECT_EQ(seen.ended, completion::stopped);
    for (auto& each : blockers) each.get();
}

// With one worker, the second operation runs only if the first one leaves the worker.
TEST_P(schedulers, receiver_may_block) {
    sennit::event first_blocks, second_ran;
    auto first = ex::schedule(workers) | ex::then([&] {
                     first_blocks.set();
                     second_ran.wait();
                 });
    auto second = ex::schedule(workers) | ex::then([&] { second_ran.set(); });
    record<> one, two;
    auto first_operation = ex::connect(std::move(first), record_in(one));
    auto second_operation = ex::connect(std::move(second), record_in(two));
    ex::start(first_operation);
    first_blocks.wait();
    ex::start(second_operation);
    one.done.wait();
    two.done.wait();
    EXPECT_EQ(one.ended, completion::value);
    EXPECT_EQ(two.ended, completion::value);
}

TEST_P(schedulers, completion_may_free_the_operation_and_block) {
    start_freeing(200, [this] { return ex::schedule(workers); });
}

TEST_P(schedulers, threads_and_fibers_schedule_at_the_same_time) {
    static constexpr int rounds = 100;
    std::atomic<int> ran = 0;
    const auto body = [&] {
        for (int i = 0; i < rounds; ++i)
            sync_wait(ex::schedule(workers) | ex::then([&] { ++ran; }));
    };
    std::thread outside(body);
    runtime.run([&] {
        sennit::fiber one(body);
        sennit::fiber two(body);
        one.join();
        two.join();
    });
    outside.join();
    EXPECT_EQ(ran, 3 * rounds);
}

// A receiver that cannot be stopped needs no set_stopped.
struct empty_receiver {
    using receiver_concept = ex::receiver_t;
    static void set_value() noexcept {}
    static auto get_env() noexcept { return token_env<ex_std::never_stop_token>(); }
};
static_assert(
    sizeof(ex::connect_result_t<decltype(ex::schedule(std::declval<runtime_scheduler&>())),
                                empty_receiver>) <= 64);

} // namespace
