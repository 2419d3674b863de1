// SPDX-License-Identifier: Apache-2.0
#include "mix.hpp"

#include "core/runtime/runtime_core.hpp"

#include <sennit/sennit.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace soak {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

bool fibers(dice& with) {
    const int count = with.from(1, 300), yields = with.from(0, 4);
    std::atomic<int> ran{0};
    std::vector<sennit::fiber> all;
    for (int i = 0; i < count; ++i)
        all.emplace_back(
            sennit::fiber_attributes{.name = i % 7 == 0 ? "seventh" : "", .pinned = i % 11 == 0},
            [&, i] {
                for (int k = 0; k < yields; ++k) sennit::this_fiber::yield();
                auto [a, b] = sennit::fork_join([i] { return i; }, [i] { return 2 * i; });
                if (a + b == 3 * i) ++ran;
            });
    for (auto& one : all) one.join();
    sennit::fiber fails([] { throw std::runtime_error("one"); });
    try {
        fails.join();
        return false;
    } catch (const std::runtime_error&) {
    }
    return ran == count;
}

bool locks(dice& with) {
    const int strands = with.from(2, 20), times = with.from(1, 60);
    sennit::mutex plain;
    sennit::timed_mutex timed;
    sennit::recursive_mutex recursive;
    sennit::shared_mutex shared;
    sennit::counting_semaphore<> permits(2);
    std::array<long, 5> sums{};
    std::atomic<int> inside{0}, most{0}, late{0};
    {
        std::vector<sennit::fiber> all;
        for (int i = 0; i < strands; ++i)
            all.emplace_back([&, i] {
                for (int k = 0; k < times; ++k) {
                    {
                        std::scoped_lock both(plain, recursive);
                        std::lock_guard again(recursive);
                        ++sums[0];
                        if ((i + k) % 5 == 0) sennit::this_fiber::yield();
                    }
                    if (std::unique_lock guard(timed, 1h); guard)
                        ++sums[1];
                    else
                        ++late;
                    if (k % 3 == 0) {
                        std::unique_lock guard(shared);
                        ++sums[2];
                    } else {
                        std::shared_lock guard(shared);
                        if (sums[2] < 0) ++late;
                    }
                    permits.acquire();
                    const int now = ++inside;
                    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
                    }
                    if (k % 4 == 0) sennit::this_fiber::yield();
                    --inside;
                    permits.release();
                }
            });
        std::thread outside([&] {
            for (int k = 0; k < times; ++k) {
                std::lock_guard guard(plain);
                ++sums[0];
            }
        });
        for (auto& one : all) one.join();
        // A worker could wait for the thread, too, but the thread needs none of the workers.
        sennit::blocking([&] { outside.join(); });
    }
    const long each = long{strands} * times, thirds = long{strands} * ((times + 2) / 3);
    return sums[0] == each + times && sums[1] == each && sums[2] == thirds && most <= 2 &&
           late == 0;
}

bool signals(dice& with) {
    const int strands = with.from(2, 12), phases = with.from(1, 10);
    sennit::mutex guard;
    sennit::condition_variable changed;
    sennit::latch begun(strands);
    sennit::event go;
    sennit::once_flag once;
    std::atomic<int> completions{0}, first{0}, wrong{0};
    int arrived = 0;
    auto count = [&]() noexcept { ++completions; };
    sennit::barrier<decltype(count)> together(strands, count);
    std::vector<sennit::fiber> all;
    for (int i = 0; i < strands; ++i)
        all.emplace_back([&] {
            sennit::call_once(once, [&] { ++first; });
            begun.count_down();
            go.wait();
            for (int phase = 0; phase < phases; ++phase) {
                together.arrive_and_wait();
                if (completions <= phase) ++wrong;
            }
            std::unique_lock lock(guard);
            if (++arrived == strands)
                changed.notify_all();
            else
                changed.wait(lock, [&] { return arrived == strands; });
        });
    begun.wait();
    go.set();
    for (auto& one : all) one.join();
    return first == 1 && completions == phases && wrong == 0 && arrived == strands;
}

bool channels(dice& with) {
    constexpr std::size_t capacities[] = {0, 1, 7, 128};
    sennit::channel<std::unique_ptr<int>> line(capacities[with.from(0, 3)]);
    const int producers = with.from(1, 6), consumers = with.from(1, 6), pieces = with.from(1, 200);
    std::atomic<long> sum{0}, count{0};
    {
        std::vector<sennit::fiber> from, to;
        for (int i = 0; i < consumers; ++i)
            to.emplace_back([&] {
                for (auto& one : line) {
                    sum += *one;
                    ++count;
                }
            });
        for (int i = 0; i < producers; ++i)
            from.emplace_back([&] {
                for (int k = 1; k <= pieces; ++k) line.push(std::make_unique<int>(k));
            });
        for (auto& one : from) one.join();
        line.close();
        for (auto& one : to) one.join();
    }
    return count == long{producers} * pieces && sum == long{producers} * pieces * (pieces + 1) / 2;
}

bool selects(dice& with) {
    sennit::channel<int> a(static_cast<std::size_t>(with.from(0, 3))),
        b(static_cast<std::size_t>(with.from(0, 3)));
    const int pieces = with.from(1, 200), pause = with.from(1, 40);
    long sum = 0, late = 0, closed = 0;
    sennit::fiber first([&] {
        for (int i = 1; i <= pieces; ++i) {
            a.push(i);
            if (i % pause == 0) sennit::this_fiber::yield();
        }
        a.close();
    });
    sennit::fiber second([&] {
        for (int i = 1; i <= pieces; ++i) {
            b.push(2 * i);
            if (i % pause == 0) sennit::this_fiber::sleep_for(20us);
        }
        b.close();
    });
    bool a_open = true, b_open = true;
    while (a_open || b_open) {
        if (!a_open) {
            const auto value = b.pop();
            sum += value.value_or(0);
            b_open = value.has_value();
        } else if (!b_open) {
            const auto value = a.pop();
            sum += value.value_or(0);
            a_open = value.has_value();
        } else {
            sennit::select(sennit::on_pop(
                               a, [&](int v) { sum += v; },
                               [&] {
                                   a_open = false;
                                   ++closed;
                               }),
                           sennit::on_pop(
                               b, [&](int v) { sum += v; },
                               [&] {
                                   b_open = false;
                                   ++closed;
                               }),
                           sennit::after(10us, [&] { ++late; }));
        }
    }
    return closed >= 1 && late >= 0 && sum == 3L * pieces * (pieces + 1) / 2;
}

bool futures(dice& with) {
    const int count = with.from(1, 60);
    std::vector<sennit::future<int>> all;
    for (int i = 0; i < count; ++i)
        all.push_back(sennit::async([i] {
                          if (i % 3 == 0) sennit::this_fiber::yield();
                          return i;
                      }).then([](sennit::future<int> of) { return of.get() + 1; }));
    auto together = sennit::when_all(all.begin(), all.end()).get();
    long sum = 0;
    for (auto& one : together) sum += one.get();
    sennit::promise<int> given;
    auto later = given.get_future();
    sennit::fiber giver([&given] { given.set_value(7); });
    std::vector<sennit::future<int>> either;
    either.push_back(std::move(later));
    auto first = sennit::when_any(either.begin(), either.end()).get();
    return sum == long{count} * (count + 1) / 2 && first.index == 0 && first.futures[0].get() == 7;
}

bool timers(dice& with) {
    const int sleepers = with.from(1, 60);
    std::atomic<int> early{0}, woken{0};
    {
        std::vector<sennit::fiber> all;
        for (int i = 0; i < sleepers; ++i)
            all.emplace_back([&, pause = std::chrono::microseconds(with.from(0, 2'000))] {
                const auto until = clock::now() + pause;
                sennit::this_fiber::sleep_until(until);
                if (clock::now() < until) ++early;
                ++woken;
            });
        for (auto& one : all) one.join();
    }
    bool late = false;
    try {
        sennit::with_timeout(1ms, [] {
            sennit::event never;
            never.wait();
        });
    } catch (const sennit::timed_out&) {
        late = true;
    }
    const int in_time = sennit::with_timeout(1h, [] {
        sennit::this_fiber::yield();
        return 5;
    });
    return early == 0 && woken == sleepers && late && in_time == 5;
}

// Children that block in every cancellable call, and one child that fails.
bool nurseries(dice& with) {
    const int children = with.from(1, 30);
    std::atomic<int> ended{0};
    sennit::channel<int> nobody;
    sennit::event never;
    sennit::mutex guard;
    sennit::condition_variable quiet;
    sennit::counting_semaphore<> none(0);
    bool failed = false;
    try {
        sennit::nursery family;
        struct counts_out {
            std::atomic<int>& ended;
            ~counts_out() { ++ended; }
        };
        for (int i = 0; i < children; ++i)
            family.start([&, i] {
                counts_out out{ended};
                switch (i % 5) {
                case 0:
                    (void)nobody.pop();
                    break;
                case 1:
                    never.wait();
                    break;
                case 2: {
                    std::unique_lock lock(guard);
                    quiet.wait(lock, [] { return false; });
                    break;
                }
                case 3:
                    none.acquire();
                    break;
                default:
                    sennit::this_fiber::sleep_for(1h);
                }
            });
        const int yields = with.from(0, 20);
        family.start([yields] {
            for (int k = 0; k < yields; ++k) sennit::this_fiber::yield();
            throw std::logic_error("the first");
        });
        family.join();
    } catch (const std::logic_error&) {
        failed = true;
    }
    // A child that had not begun need not have run.
    return failed && ended <= children;
}

struct add {
    int n;
};
struct total {
    using reply = long;
};
class tally : public sennit::actor<tally, add, total> {
public:
    void on(add m) { sum_ += m.n; }
    long on(total) { return sum_; }

private:
    long sum_ = 0;
};

bool actors(dice& with) {
    const int senders = with.from(1, 6), pieces = with.from(1, 300);
    sennit::actor_group group;
    auto target = group.spawn<tally>();
    std::vector<sennit::fiber> all;
    for (int i = 0; i < senders; ++i)
        all.emplace_back([&target, pieces] {
            for (int k = 1; k <= pieces; ++k) target.tell(add{k});
        });
    for (auto& one : all) one.join();
    return target.ask(total{}).get() == long{senders} * pieces * (pieces + 1) / 2;
}

bool generators(dice& with) {
    const int count = with.from(1, 200);
    const auto numbers = [](int n) -> sennit::generator<int> {
        for (int i = 1; i <= n; ++i) co_yield i;
    };
    long sum = 0;
    for (const int one : numbers(count)) {
        sum += one;
        if (one % 50 == 0) sennit::this_fiber::yield();
    }
    return sum == long{count} * (count + 1) / 2;
}

// Work behind a call that holds its worker: the watchdog runs it, or idle workers do.
bool stuck(dice& with) {
    // One program of this kind runs at a time, because there is only one watchdog and its threads
    // are counted. No program of this kind runs where no other worker may come.
    static std::atomic<bool> taken{false};
    const bool bound =
        sennit::sched::current_runtime()->policy() == sennit::scheduling::round_robin;
    if (bound || with.from(0, 20) != 0 || taken.exchange(true)) return true;
    std::atomic<bool> open{false};
    sennit::fiber waits([&] { open = true; });
    while (!open.load()) std::this_thread::yield();
    taken = false;
    waits.join();
    return true;
}

bool blocking_calls(dice& with) {
    const int calls = with.from(1, 8);
    std::vector<sennit::fiber> all;
    std::atomic<int> right{0};
    for (int i = 0; i < calls; ++i)
        all.emplace_back([&, i] {
            if (sennit::blocking([i] {
                    std::this_thread::yield();
                    return 3 * i;
                }) == 3 * i)
                ++right;
        });
    for (auto& one : all) one.join();
    return right == calls;
}

constexpr program all_programs[] = {
    {"fibers", &fibers},         {"locks", &locks},         {"signals", &signals},
    {"channels", &channels},     {"selects", &selects},     {"futures", &futures},
    {"timers", &timers},         {"nurseries", &nurseries}, {"actors", &actors},
    {"generators", &generators}, {"stuck", &stuck},         {"blocking calls", &blocking_calls},
};

} // namespace

std::span<const program> basic_programs() {
    return all_programs;
}

std::vector<program> programs() {
    std::vector<program> all;
    for (const auto& some :
         {basic_programs(), limits_programs(), limits_family_programs(), limits_channel_programs(),
          limits_end_programs(), families_programs(), actors_programs(), monitors_programs(),
          acceptance_programs(), coroutines_programs(), generators_programs(), graphs_programs(),
          runtimes_programs(), liveness_programs()})
        all.insert(all.end(), some.begin(), some.end());
    return all;
}

} // namespace soak
