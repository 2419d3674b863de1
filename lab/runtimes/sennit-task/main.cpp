// SPDX-License-Identifier: Apache-2.0
// The workloads of fibers in Sennit's tasks, C++20 coroutines. Each fiber of the workload is a task
// that is spawned, and each blocking call is the awaited form on the same object.
#include "main.hpp"
#include "../sennit/with_runtime.hpp"
#include "fibers/count.hpp"
#include "fibers/sleepers.hpp"

#include <sennit/channel.hpp>
#include <sennit/condition_variable.hpp>
#include <sennit/event.hpp>
#include <sennit/latch.hpp>
#include <sennit/mutex.hpp>
#include <sennit/task.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

using sennit::task;

namespace {

// ---- task-ready

task<std::int64_t> one_more(std::int64_t before) {
    co_return before + 1;
}
task<std::int64_t> count_by_awaits(std::int64_t n) {
    std::int64_t count = 0;
    while (count < n) count = co_await one_more(count);
    co_return count;
}
struct task_ready : lab::counted {
    using counted::counted;
    std::int64_t run() const { return sennit::block_on(count_by_awaits(n)); }
};

// ---- fiber-yield, fiber-create

task<std::int64_t> yield_often(std::int64_t share) {
    std::int64_t count = 0;
    for (; count < share; ++count) co_await sennit::async_yield();
    co_return count;
}
struct task_yield : lab::counted {
    using counted::counted;
    std::int64_t run() const {
        sennit::future<std::int64_t> first = sennit::spawn(yield_often, n - n / 2),
                                     second = sennit::spawn(yield_often, n / 2);
        return first.get() + second.get();
    }
};

task<std::int64_t> spawn_and_await(std::int64_t n) {
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < n; ++i)
        count = co_await sennit::spawn(one_more, static_cast<std::int64_t>(count));
    co_return count;
}
struct task_create : lab::counted {
    using counted::counted;
    std::int64_t run() const { return sennit::spawn(spawn_and_await, n).get(); }
};

// ---- channels

using numbers = sennit::channel<std::int64_t>;

task<> send(numbers& to, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) co_await to.async_push(i);
}
task<std::int64_t> add(numbers& from, std::int64_t n) {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        const std::optional<std::int64_t> one = co_await from.async_pop();
        sum += *one; // the program does not close the channel
    }
    co_return sum;
}
struct task_channel : lab::summed {
    std::size_t capacity;
    task_channel(const std::string& size, std::size_t room) : summed(size), capacity(room) {}
    std::int64_t run() const {
        numbers channel(capacity);
        sennit::future<void> producer = sennit::spawn(send, std::ref(channel), n);
        sennit::future<std::int64_t> consumer = sennit::spawn(add, std::ref(channel), n);
        producer.get();
        return consumer.get();
    }
};

// excerpt mpmc
task<> send_range(numbers& to, std::int64_t first, std::int64_t last) {
    for (std::int64_t number = first; number < last; ++number) co_await to.async_push(number);
}
task<std::int64_t> add_until_closed(numbers& from) {
    std::int64_t sum = 0;
    while (const std::optional<std::int64_t> one = co_await from.async_pop()) sum += *one;
    co_return sum;
}
struct task_many_to_many : lab::summed {
    std::size_t capacity;
    std::int64_t each_side;
    task_many_to_many(const std::string& size, std::size_t room, std::int64_t tasks)
        : summed(size), capacity(room), each_side(tasks) {}
    std::int64_t run() const {
        numbers channel(capacity);
        std::vector<sennit::future<void>> producers;
        std::vector<sennit::future<std::int64_t>> consumers;
        for (std::int64_t i = 0, first = 0; i < each_side; ++i) {
            const std::int64_t last = first + n / each_side + (i < n % each_side);
            producers.push_back(sennit::spawn(send_range, std::ref(channel), first, last));
            consumers.push_back(sennit::spawn(add_until_closed, std::ref(channel)));
            first = last;
        }
        for (auto& one : producers) one.get();
        channel.close();
        std::int64_t sum = 0;
        for (auto& one : consumers) sum += one.get();
        return sum;
    }
};
// excerpt end

// ---- many tasks that wait

task<> nap_and_count(std::int64_t i, std::atomic<std::int64_t>& woken) {
    co_await sennit::async_sleep_for(lab::nap(i));
    woken.fetch_add(1, std::memory_order_relaxed);
}
struct task_sleepers : lab::counted {
    using counted::counted;
    std::int64_t run() const {
        std::atomic<std::int64_t> woken = 0;
        std::vector<sennit::future<void>> all;
        all.reserve(static_cast<std::size_t>(n));
        for (std::int64_t i = 0; i < n; ++i)
            all.push_back(sennit::spawn(nap_and_count, i, std::ref(woken)));
        for (sennit::future<void>& one : all) one.get();
        return woken.load(std::memory_order_relaxed);
    }
};

task<> pass_gate(sennit::event& gate, sennit::latch& waiting, std::atomic<std::int64_t>& passed) {
    waiting.count_down();
    co_await gate.async_wait();
    passed.fetch_add(1, std::memory_order_relaxed);
}
struct tasks_blocked : lab::counted {
    using counted::counted;
    std::int64_t run() const {
        sennit::event gate;
        sennit::latch waiting(n);
        std::atomic<std::int64_t> passed = 0;
        std::vector<sennit::future<void>> all;
        all.reserve(static_cast<std::size_t>(n));
        for (std::int64_t i = 0; i < n; ++i)
            all.push_back(
                sennit::spawn(pass_gate, std::ref(gate), std::ref(waiting), std::ref(passed)));
        waiting.wait();
        gate.set();
        for (sennit::future<void>& one : all) one.get();
        return passed.load(std::memory_order_relaxed);
    }
};

// ---- locks

task<> count_locked(sennit::mutex& mutex, std::int64_t& count, std::int64_t share) {
    for (std::int64_t step = 0; step < share; ++step) {
        co_await mutex.async_lock();
        ++count;
        mutex.unlock();
    }
}
struct task_mutex_contended : lab::counted {
    using counted::counted;
    std::int64_t run() const {
        sennit::mutex mutex;
        std::int64_t count = 0; // guarded by the mutex
        std::vector<sennit::future<void>> all;
        for (std::int64_t i = 0; i < 4; ++i)
            all.push_back(
                sennit::spawn(count_locked, std::ref(mutex), std::ref(count), n / 4 + (i < n % 4)));
        for (sennit::future<void>& one : all) one.get();
        return count;
    }
};

struct turns {
    sennit::mutex mutex;
    sennit::condition_variable mine[2];
    std::size_t turn = 0;
    std::int64_t count = 0;
};
task<> take_turns(turns& shared, std::size_t me, std::int64_t rounds) {
    std::unique_lock<sennit::mutex> lock = co_await shared.mutex.async_scoped_lock();
    for (std::int64_t i = 0; i < rounds; ++i) {
        while (shared.turn != me) co_await shared.mine[me].async_wait(lock);
        ++shared.count;
        shared.turn = 1 - me;
        shared.mine[shared.turn].notify_one();
    }
}
struct task_condition : lab::counted {
    using counted::counted;
    std::int64_t run() const {
        turns shared;
        sennit::future<void> first =
            sennit::spawn(take_turns, std::ref(shared), std::size_t{0}, n - n / 2);
        sennit::future<void> second =
            sennit::spawn(take_turns, std::ref(shared), std::size_t{1}, n / 2);
        first.get();
        second.get();
        return shared.count;
    }
};

struct tasks {
    static std::optional<int> run(const std::string& name, const std::string& size,
                                  unsigned threads) {
        using lab::measure;
        if (name == "task-ready") return measure<with_runtime>(task_ready(size), threads);
        if (name == "fiber-yield" || name == "task-switch")
            return measure<with_runtime>(task_yield(size), threads);
        if (name == "fiber-create" || name == "task-spawn")
            return measure<with_runtime>(task_create(size), threads);
        if (name == "channel-rendezvous")
            return measure<with_runtime>(task_channel(size, 0), threads);
        if (name == "channel-buffered")
            return measure<with_runtime>(task_channel(size, 128), threads);
        const std::int64_t half = std::max(1u, threads / 2);
        if (name == "mpmc")
            return measure<with_runtime>(task_many_to_many(size, 128, half), threads);
        if (name == "mpmc-unbuffered")
            return measure<with_runtime>(task_many_to_many(size, 0, half), threads);
        if (name == "mpmc-4")
            return measure<with_runtime>(task_many_to_many(size, 128, 4), threads);
        if (name == "mpmc-4-unbuffered")
            return measure<with_runtime>(task_many_to_many(size, 0, 4), threads);
        if (name == "mutex-contended")
            return measure<with_runtime>(task_mutex_contended(size), threads);
        if (name == "condition") return measure<with_runtime>(task_condition(size), threads);
        if (name == "sleepers") return measure<with_runtime>(task_sleepers(size), threads);
        if (name == "fibers-blocked" || name == "tasks-blocked")
            return measure<with_runtime>(tasks_blocked(size), threads);
        return std::nullopt;
    }
};

} // namespace

int main(int argc, char** argv) {
    return lab::program<tasks, lab::elsewhere<lab::run_forks>, lab::elsewhere<lab::run_io>>(argc,
                                                                                            argv);
}
