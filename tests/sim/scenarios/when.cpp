// SPDX-License-Identifier: Apache-2.0
// when_all, when_any and the waits for many futures: sennit/when.hpp, src/future/when.cpp.
#include "threads.hpp"

#include "ground/ground.hpp"

#include "sennit/when.hpp"

#include <array>
#include <optional>
#include <stdexcept>
#include <vector>

namespace {

struct two_promises {
    std::array<sennit::promise<int>, 2> promises;
    std::array<sim::var<int>, 2> before;

    void keep(unsigned which) {
        before[which] = 1;
        promises[which].set_value(static_cast<int>(which) + 1);
    }
    void fail(unsigned which) {
        promises[which].set_exception(std::make_exception_ptr(std::runtime_error("failed")));
    }
    std::vector<sennit::future<int>> futures() {
        std::vector<sennit::future<int>> both;
        for (auto& one : promises) both.push_back(one.get_future());
        return both;
    }
};

} // namespace

SIM_SCENARIO_WITHIN(when, when_any_names_ready_future, .preemptions = 2, .stale_reads = 1) {
    two_promises two;
    sim::thread first([&] { two.keep(0); });
    sim::thread second([&] { two.keep(1); });
    auto [index, futures] = sennit::when_any(two.futures()).get();
    sim::check(index < 2 && two.before[index] == 1, "the write before the named future is visible");
    sim::check(futures[index].get() == static_cast<int>(index) + 1, "the named future is ready");
    first.join();
    second.join();
    sim::check(futures[1 - index].get() == static_cast<int>(2 - index),
               "the other future is unchanged");
}

// One future is certainly ready; the other becomes ready while it is being attached or detached.
SIM_SCENARIO_WITHIN(when, when_any_ignores_late_future, .preemptions = 3, .stale_reads = 1) {
    two_promises two;
    sim::thread late([&] { two.keep(1); });
    {
        auto any = sennit::when_any(two.futures());
        two.keep(0);
        auto [index, futures] = any.get();
        sim::check(futures[index].get() == static_cast<int>(index) + 1,
                   "the named future is ready");
    }
    late.join();
}

// A source that is not ready keeps no state of the ended wait.
SIM_SCENARIO_WITHIN(when, when_any_leaves_nothing_behind, .preemptions = 3, .stale_reads = 1) {
    two_promises two;
    std::array shared{sennit::shared_future<int>(two.promises[0].get_future()),
                      sennit::shared_future<int>(two.promises[1].get_future())};
    const std::size_t before = sim::live_allocations();
    sim::thread first([&] { two.keep(0); });
    sim::check(sennit::when_any(shared[0], shared[1]).get().index == 0,
               "the named future is ready");
    first.join();
    sim::check(sim::live_allocations() == before, "no allocation is left");
}

SIM_SCENARIO_WITHIN(when, when_all_waits_for_both_futures, .preemptions = 2, .stale_reads = 1) {
    two_promises two;
    sim::thread first([&] { two.keep(0); });
    sim::thread second([&] { two.keep(1); });
    auto futures = sennit::when_all(two.futures()).get();
    sim::check(two.before[0] == 1 && two.before[1] == 1,
               "the writes before both futures are visible");
    sim::check(futures[0].get() == 1 && futures[1].get() == 2, "both futures are ready");
    first.join();
    second.join();
}

// The result is dropped before the futures become ready.
SIM_SCENARIO_WITHIN(when, result_is_dropped_while_futures_become_ready, .preemptions = 2,
                    .stale_reads = 1) {
    two_promises two;
    std::optional all = sennit::when_all(two.futures());
    sim::thread first([&] { two.keep(0); });
    sim::thread second([&] { two.keep(1); });
    all.reset();
    first.join();
    second.join();
}

SIM_SCENARIO_WITHIN(when, first_success_wins, .preemptions = 2, .stale_reads = 1) {
    two_promises two;
    sim::thread loser([&] { two.fail(0); });
    sim::thread winner([&] { two.keep(1); });
    sim::check(sennit::wait_first_success(two.futures()) == 2, "failures do not count");
    loser.join();
    winner.join();
}

SIM_SCENARIO_WITHIN(when, two_failures_are_reported_together, .preemptions = 2, .stale_reads = 1) {
    two_promises two;
    sim::thread first([&] { two.fail(0); });
    sim::thread second([&] { two.fail(1); });
    std::size_t errors = 0;
    try {
        (void)sennit::wait_first_success(two.futures());
    } catch (const sennit::exception_list& list) {
        errors = list.size();
    }
    sim::check(errors == 2, "both failures are reported");
    first.join();
    second.join();
}

SIM_SCENARIO_WITHIN(when, first_error_ends_wait_for_values, .preemptions = 2, .stale_reads = 1) {
    two_promises two;
    sim::thread first([&] { two.keep(0); });
    sim::thread second([&] { two.fail(1); });
    bool failed = false;
    try {
        (void)sennit::wait_all_values(two.futures());
    } catch (const std::runtime_error&) {
        failed = true;
    }
    sim::check(failed, "the error is reported");
    first.join();
    second.join();
}
