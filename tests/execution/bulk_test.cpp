// SPDX-License-Identifier: Apache-2.0
// bulk, bulk_chunked and bulk_unchunked on runtime_scheduler: every index once, in parallel.
#include "support.hpp"

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

namespace {

class bulks : public with_workers {
protected:
    runtime_scheduler workers{runtime};
};
SENNIT_FOR_WORKERS(bulks);

constexpr int many = 10'000;

// How often each index was visited.
struct visits {
    std::vector<std::atomic<int>> seen = std::vector<std::atomic<int>>(many);
    void once_each() {
        for (auto& each : seen) EXPECT_EQ(each.exchange(0), 1);
    }
};

TEST_P(bulks, each_index_is_visited_once_on_a_worker) {
    visits all;
    const auto visit = [&](int i) {
        EXPECT_EQ(sennit::sched::current_runtime(), &runtime.core());
        ++all.seen[static_cast<std::size_t>(i)];
    };
    const auto visit_chunk = [&](int first, int last) {
        for (; first != last; ++first) visit(first);
    };
    sync_wait(ex::schedule(workers) | ex::bulk(ex::par, many, visit));
    all.once_each();
    sync_wait(ex::schedule(workers) | ex::bulk_chunked(ex::par, many, visit_chunk));
    all.once_each();
    sync_wait(ex::schedule(workers) | ex::bulk_unchunked(ex::par, many, visit));
    all.once_each();
    sync_wait(ex::schedule(workers) | ex::bulk(ex::seq, many, visit));
    all.once_each();
    sync_wait(ex::schedule(workers) | ex::bulk_unchunked(ex::seq, many, visit));
    all.once_each();
}

// The calls wait for each other, so each needs a strand of its own.
TEST_P(bulks, calls_of_bulk_unchunked_run_at_the_same_time) {
    static constexpr int calls = 8;
    sennit::latch all_run(calls);
    sync_wait(ex::schedule(workers) |
              ex::bulk_unchunked(ex::par, calls, [&](int) { all_run.arrive_and_wait(); }));
    EXPECT_TRUE(all_run.try_wait());
}

TEST_P(bulks, serial_policy_visits_the_indices_in_order) {
    std::vector<int> order;
    const auto note = [&](int i) { order.push_back(i); };
    sync_wait(ex::schedule(workers) | ex::bulk(ex::seq, 100, note));
    ASSERT_EQ(order.size(), 100u);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST_P(bulks, values_are_shared_by_the_calls_and_passed_on) {
    auto sums = ex::schedule(workers) |
                ex::then([] { return std::vector<std::atomic<int>>(many); }) |
                ex::bulk(ex::par, many,
                         [](int i, std::vector<std::atomic<int>>& to) {
                             to[static_cast<std::size_t>(i)] += i;
                         }) |
                ex::then([](std::vector<std::atomic<int>> got) {
                    long sum = 0;
                    for (auto& each : got) sum += each;
                    return sum;
                });
    EXPECT_EQ(std::get<0>(*sync_wait(std::move(sums))), long{many} * (many - 1) / 2);
}

TEST_P(bulks, first_exception_arrives_as_the_error) {
    for (const int from : {0, 17, many - 1}) {
        record<> seen;
        auto work = ex::schedule(workers) | ex::bulk(ex::par, many, [=](int i) {
                        if (i >= from) throw std::runtime_error(std::to_string(i));
                    });
        auto operation = ex::connect(std::move(work), record_in(seen));
        ex::start(operation);
        seen.done.wait();
        EXPECT_EQ(seen.ended, completion::error);
        EXPECT_EQ(message_of(seen.error), std::to_string(from));
    }
}

TEST_P(bulks, stop_request_ends_waiting_calls_and_arrives_as_set_stopped) {
    ex_std::inplace_stop_source stop;
    sennit::event never, waits;
    record<> seen;
    auto work = ex::schedule(workers) | ex::bulk_unchunked(ex::par, 100, [&](int) {
                    waits.set();
                    never.wait();
                });
    auto operation = ex::connect(std::move(work), record_in(seen, stop));
    ex::start(operation);
    waits.wait();
    EXPECT_EQ(seen.ended, completion::none);
    stop.request_stop();
    seen.done.wait();
    EXPECT_EQ(seen.ended, completion::stopped);
}

TEST_P(bulks, stop_and_error_of_the_sender_before_pass_through) {
    ex_std::inplace_stop_source stop;
    stop.request_stop();
    record<> stopped;
    const auto never = [](int) { ADD_FAILURE() << "the function was called"; };
    auto operation = ex::connect(ex::schedule(workers) | ex::bulk(ex::par, many, never),
                                 record_in(stopped, stop));
    ex::start(operation);
    stopped.done.wait();
    EXPECT_EQ(stopped.ended, completion::stopped);

    record<> failed;
    auto fails = ex::connect(ex::schedule(workers) | ex::then([] {
                                 throw std::runtime_error("before");
                             }) | ex::bulk(ex::par, many, never),
                             record_in(failed));
    ex::start(fails);
    failed.done.wait();
    EXPECT_EQ(message_of(failed.error), "before");
}

TEST_P(bulks, empty_and_negative_shapes_call_nothing) {
    const auto never = [](auto...) { ADD_FAILURE() << "the function was called"; };
    EXPECT_TRUE(sync_wait(ex::schedule(workers) | ex::bulk_chunked(ex::par, 0, never)));
    EXPECT_TRUE(sync_wait(ex::schedule(workers) | ex::bulk_chunked(ex::par, -3, never)));
    EXPECT_TRUE(sync_wait(ex::schedule(workers) | ex::bulk_chunked(ex::seq, 0u, never)));
    EXPECT_TRUE(sync_wait(ex::schedule(workers) | ex::bulk_unchunked(ex::par, 0L, never)));
}

} // namespace
