// SPDX-License-Identifier: Apache-2.0
// Values flow through channels of every capacity, between fibers, threads and both.
#include "channels.hpp"

#include <sennit/channel.hpp>
#include <sennit/fiber.hpp>
#include <sennit/this_fiber.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using sennit::channel_status;

struct flow_setting {
    by how;
    unsigned workers;
    std::size_t capacity;
};

std::vector<flow_setting> settings(bool threads_too) {
    std::vector<flow_setting> all;
    for (std::size_t capacity :
         {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{16}, unbounded}) {
        for (unsigned workers : {1u, 2u, 4u}) {
            all.push_back({by::fibers, workers, capacity});
            if (threads_too) all.push_back({by::both, workers, capacity});
        }
        if (threads_too) all.push_back({by::threads, 1, capacity});
    }
    return all;
}
std::string name_of(const testing::TestParamInfo<flow_setting>& test) {
    const auto& [how, workers, capacity] = test.param;
    constexpr const char* names[] = {"fibers_w", "threads_w", "both_w"};
    return names[static_cast<int>(how)] + std::to_string(workers) + "_c" +
           (capacity == unbounded ? "unbounded" : std::to_string(capacity));
}

class channel_flow : public testing::TestWithParam<flow_setting> {
protected:
    sennit::runtime runtime{{.workers = GetParam().workers, .stack_size = 256 << 10}};

    template <class F>
    void start(F body) {
        if (GetParam().how == by::threads || (GetParam().how == by::both && started_ % 2 == 1))
            threads_.emplace_back(std::move(body));
        else
            fibers_.emplace_back(sennit::fiber_attributes{.runtime = &runtime}, std::move(body));
        ++started_;
    }
    void join() {
        for (sennit::fiber& one : fibers_) one.join();
        threads_.clear();
    }

private:
    std::size_t started_ = 0;
    std::vector<sennit::fiber> fibers_;
    std::vector<std::jthread> threads_;
};
INSTANTIATE_TEST_SUITE_P(all, channel_flow, testing::ValuesIn(settings(true)), name_of);

TEST_P(channel_flow, channel_keeps_the_order_of_pushes_and_ends_with_close) {
    sennit::channel<int> numbers(GetParam().capacity);
    start([&] {
        for (int i = 0; i < 1000; ++i) EXPECT_EQ(numbers.push(i), channel_status::success);
        numbers.close();
    });
    start([&] {
        int next = 0;
        for (const int i : numbers) EXPECT_EQ(i, next++);
        EXPECT_EQ(next, 1000);
        EXPECT_EQ(numbers.pop(), std::nullopt);
    });
    join();
    EXPECT_EQ(numbers.size(), 0u);
}

TEST_P(channel_flow, channel_delivers_each_value_of_many_producers_to_one_of_many_consumers) {
    constexpr int producers = 4, each = 500;
    sennit::channel<int> numbers(GetParam().capacity);
    std::atomic<int> producing{producers};
    std::vector<std::vector<int>> got(4);
    for (int p = 0; p < producers; ++p)
        start([&, p] {
            for (int i = 0; i < each; ++i)
                EXPECT_EQ(numbers.push(p * each + i), channel_status::success);
            if (--producing == 0) numbers.close();
        });
    for (std::vector<int>& mine : got)
        start([&] {
            while (const std::optional<int> value = numbers.pop()) mine.push_back(*value);
        });
    join();
    std::vector<int> times(producers * each);
    for (const std::vector<int>& mine : got) {
        std::vector<int> last(producers, -1);
        for (const int value : mine) {
            ++times.at(static_cast<std::size_t>(value));
            int& before = last[static_cast<std::size_t>(value / each)];
            EXPECT_LT(before, value); // order of one producer's values at one consumer
            before = value;
        }
    }
    EXPECT_EQ(times, std::vector<int>(producers * each, 1));
}

TEST_P(channel_flow, producers_run_ahead_of_consumers_by_the_capacity_only) {
    if (GetParam().capacity == unbounded) return;
    const int capacity = static_cast<int>(GetParam().capacity);
    sennit::channel<int> numbers(GetParam().capacity);
    std::atomic<int> begun{0}; // pops
    start([&] {
        for (int i = 0; i < 1000; ++i) {
            EXPECT_EQ(numbers.push(i), channel_status::success);
            EXPECT_LE(i + 1 - capacity, begun);
        }
    });
    start([&] {
        for (int i = 0; i < 1000; ++i) {
            ++begun;
            EXPECT_EQ(numbers.pop(), i);
            EXPECT_LE(numbers.size(), numbers.capacity());
        }
    });
    join();
}

TEST_P(channel_flow, two_channels_carry_ping_pong) {
    sennit::channel<int> ping(GetParam().capacity), pong(GetParam().capacity);
    start([&] {
        for (const int i : ping) (void)pong.push(i + 1);
        pong.close();
    });
    start([&] {
        int ball = 0;
        for (int i = 0; i < 1000; ++i) {
            (void)ping.push(ball);
            ball = pong.pop().value();
        }
        EXPECT_EQ(ball, 1000);
        ping.close();
        EXPECT_EQ(pong.pop(), std::nullopt);
    });
    join();
}

TEST_P(channel_flow, chain_of_channels_sieves_primes_and_unwinds_when_reader_closes) {
    using numbers = sennit::channel<int>;
    std::deque<numbers> stages; // a deque does not move its elements
    numbers* from = &stages.emplace_back(GetParam().capacity);
    start([to = from] {
        for (int i = 2; to->push(i) == channel_status::success && i < 10'000; ++i)
            sennit::this_fiber::yield();
        to->close();
    });
    int last = 0;
    for (int i = 0; i < 40; ++i) {
        const int prime = from->pop().value();
        EXPECT_LT(last, prime);
        last = prime;
        numbers* to = &stages.emplace_back(GetParam().capacity);
        start([=] {
            for (const int n : *from)
                if (n % prime != 0 && to->push(n) != channel_status::success) break;
            from->close();
            to->close();
        });
        from = to;
    }
    EXPECT_EQ(last, 173);
    from->close();
    join();
}

TEST_P(channel_flow, network_with_feedback_computes_fibonacci_numbers) {
    using numbers = sennit::channel<std::uint64_t>;
    const std::size_t capacity = GetParam().capacity;
    numbers sum(capacity), out(std::min(capacity, std::size_t{16})), one(capacity), two(capacity),
        later(capacity);
    start([&] { // tee
        for (const std::uint64_t n : sum) {
            if (out.push(n) != channel_status::success) break;
            (void)one.push(n);
            (void)two.push(n);
        }
        one.close();
        two.close();
    });
    start([&] { // delay
        for (const std::uint64_t n : two) (void)later.push(n);
        later.close();
    });
    start([&] { // adder
        (void)sum.push(1);
        (void)one.pop();
        (void)sum.push(1);
        for (const std::uint64_t n : one) {
            const std::optional<std::uint64_t> before = later.pop();
            if (!before || sum.push(n + *before) != channel_status::success) break;
        }
        sum.close();
    });
    std::uint64_t before = 0, last = 1;
    EXPECT_EQ(out.pop(), 1u);
    for (int i = 1; i < 60; ++i) {
        const std::uint64_t next = out.pop().value();
        EXPECT_EQ(next, before + last);
        before = std::exchange(last, next);
    }
    EXPECT_EQ(last, 1548008755920u);
    out.close();
    sum.close(); // the adder may wait in `sum`, the tee in `one`
    one.close();
    later.close();
    join();
}

class channel_fibers : public channel_flow {};
INSTANTIATE_TEST_SUITE_P(all, channel_fibers, testing::ValuesIn(settings(false)), name_of);

TEST_P(channel_fibers, fibers_pass_values_through_a_thousand_channels) {
    constexpr std::size_t length = 1000;
    std::deque<sennit::channel<int>> links;
    for (std::size_t i = 0; i <= length; ++i) links.emplace_back(GetParam().capacity);
    for (std::size_t i = 0; i < length; ++i)
        start([&from = links[i], &to = links[i + 1]] {
            for (const int value : from) EXPECT_EQ(to.push(value + 1), channel_status::success);
            to.close();
        });
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(links.front().push(i), channel_status::success);
        EXPECT_EQ(links.back().pop(), i + 1000);
    }
    links.front().close();
    EXPECT_EQ(links.back().pop(), std::nullopt);
    join();
}

// With one worker, every fiber that was started waits in its call once let_others_run() has
// returned.
class channel_waiting : public testing::TestWithParam<std::size_t> {
protected:
    sennit::runtime runtime{{.workers = 1}};
    static void let_others_run() {
        for (int i = 0; i < 100; ++i) sennit::this_fiber::yield();
    }
};
INSTANTIATE_TEST_SUITE_P(all, channel_waiting, testing::Values(0u, 1u, 2u, 16u),
                         [](const auto& test) {
                             return std::string("c").append(std::to_string(test.param));
                         });

TEST_P(channel_waiting, channel_serves_poppers_in_order_of_arrival) {
    runtime.run([&] {
        sennit::channel<int> numbers(GetParam());
        std::vector<sennit::fiber> poppers;
        for (int i = 0; i < 10; ++i) {
            poppers.emplace_back([&, i] { EXPECT_EQ(numbers.pop(), i); });
            let_others_run();
        }
        for (int i = 0; i < 10; ++i) EXPECT_EQ(numbers.try_push(i), channel_status::success);
        for (sennit::fiber& one : poppers) one.join();
    });
}

TEST_P(channel_waiting, channel_serves_pushers_in_order_of_arrival_and_none_overtakes) {
    runtime.run([&] {
        sennit::channel<int> numbers(GetParam());
        const int capacity = static_cast<int>(GetParam());
        for (int i = 0; i < capacity; ++i) EXPECT_EQ(numbers.try_push(i), channel_status::success);
        std::atomic<int> returned{0};
        std::vector<sennit::fiber> pushers;
        for (int i = capacity; i < capacity + 10; ++i) {
            pushers.emplace_back([&, i] {
                EXPECT_EQ(numbers.push(i), channel_status::success);
                ++returned;
            });
            let_others_run();
        }
        for (int i = 0; i < 10; ++i) {
            EXPECT_EQ(returned, i);
            EXPECT_EQ(numbers.try_push(99), channel_status::full);
            EXPECT_EQ(numbers.pop(), i);
            let_others_run();
        }
        EXPECT_EQ(returned, 10);
        for (int i = 10; i < capacity + 10; ++i) EXPECT_EQ(numbers.pop(), i);
        for (sennit::fiber& one : pushers) one.join();
    });
}

} // namespace
