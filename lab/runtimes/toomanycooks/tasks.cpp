// SPDX-License-Identifier: Apache-2.0
// The workloads of tasks as coroutines of TooManyCooks. Its `reschedule` is the yield to a task of
// the same priority.
#include "main.hpp"

#include "fibers/count.hpp"
#include "with_tmc.hpp"

#include <atomic>
#include <ranges>

namespace {

tmc::task<std::int64_t> one_more(std::int64_t before) {
    co_return before + 1;
}
tmc::task<std::int64_t> count_by_awaits(std::int64_t n) {
    std::int64_t count = 0;
    while (count < n) count = co_await one_more(count);
    co_return count;
}
struct task_ready : lab::counted {
    using counted::counted;
    std::int64_t run() const { return with_tmc::wait(count_by_awaits(n)); }
};

tmc::task<std::int64_t> yield_often(std::int64_t share) {
    std::int64_t count = 0;
    for (; count < share; ++count) co_await tmc::reschedule();
    co_return count;
}
tmc::task<std::int64_t> yield_both(std::int64_t n) {
    const auto [first, second] =
        co_await tmc::spawn_tuple(yield_often(n - n / 2), yield_often(n / 2));
    co_return first + second;
}
struct task_switch : lab::counted {
    using counted::counted;
    std::int64_t run() const { return with_tmc::wait(yield_both(n)); }
};

tmc::task<std::int64_t> spawn_and_await(std::int64_t n) {
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        auto started = tmc::spawn(one_more(count)).fork();
        count = co_await std::move(started);
    }
    co_return count;
}
struct task_spawn : lab::counted {
    using counted::counted;
    std::int64_t run() const { return with_tmc::wait(spawn_and_await(n)); }
};

struct gate {
    tmc::manual_reset_event open;
    tmc::latch waiting;
    std::atomic<std::int64_t> passed = 0;
    explicit gate(std::int64_t n) : waiting(static_cast<std::ptrdiff_t>(n)) {}
};
tmc::task<void> pass_gate(gate& at) {
    at.waiting.count_down();
    co_await at.open;
    at.passed.fetch_add(1, std::memory_order_relaxed);
}
tmc::task<std::int64_t> block_many(std::int64_t n) {
    gate at(n);
    auto tasks = std::ranges::views::iota(std::int64_t{0}, n) |
                 std::ranges::views::transform([&at](std::int64_t) { return pass_gate(at); });
    auto all = tmc::spawn_many(tasks.begin(), tasks.end()).fork();
    co_await at.waiting;
    at.open.set();
    co_await std::move(all);
    co_return at.passed.load(std::memory_order_relaxed);
}
struct tasks_blocked : lab::counted {
    using counted::counted;
    std::int64_t run() const { return with_tmc::wait(block_many(n)); }
};

} // namespace

std::optional<int> lab::run_tasks(const std::string& name, const std::string& size,
                                  unsigned threads) {
    if (name == "task-ready") return measure<with_tmc>(task_ready(size), threads);
    if (name == "task-switch") return measure<with_tmc>(task_switch(size), threads);
    if (name == "task-spawn") return measure<with_tmc>(task_spawn(size), threads);
    if (name == "tasks-blocked") return measure<with_tmc>(tasks_blocked(size), threads);
    return std::nullopt;
}
