// SPDX-License-Identifier: Apache-2.0
// Runs a function on several fibers and threads at the same time.
#pragma once

#include "../fibers/on_workers.hpp"

#include <sennit/fiber.hpp>

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

// Calls body(0), …, body(count - 1) at the same time. Each third call runs on a thread that is no
// worker, and all other calls run in fibers.
inline void crew(sennit::runtime& runtime, std::size_t count,
                 const std::function<void(std::size_t)>& body) {
    std::vector<std::thread> threads;
    for (std::size_t i = 2; i < count; i += 3) threads.emplace_back([&body, i] { body(i); });
    runtime.run([&] {
        std::vector<sennit::fiber> fibers;
        for (std::size_t i = 0; i < count; ++i)
            if (i % 3 != 2) fibers.emplace_back([&body, i] { body(i); });
        for (auto& each : fibers) each.join();
    });
    for (auto& each : threads) each.join();
}

// Four strands put the numbers 1 to 500 each, and four strands take as many numbers. A Buffer is a
// bounded buffer with the functions `put` and `take` and the container `values`.
template <class Buffer>
void expect_bounded_buffer(sennit::runtime& runtime) {
    Buffer one;
    std::atomic<long> sum{0};
    crew(runtime, 8, [&](std::size_t i) {
        for (int k = 1; k <= 500; ++k)
            if (i % 2 == 0)
                one.put(k);
            else
                sum += one.take();
    });
    EXPECT_EQ(sum.load(), 4 * 500 * 501 / 2);
    EXPECT_TRUE(one.values.empty());
}
