// SPDX-License-Identifier: Apache-2.0
// Some fibers and threads that do something together.
#pragma once

#include "../fibers/on_workers.hpp"

#include <sennit/fiber.hpp>

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

// Calls body(0), …, body(count - 1) at once: fibers, and each third one a thread that is no worker.
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

// Four put 1 to 500 each, four take as often: `put` and `take` of a Buffer that is a bounded one,
// with `values`.
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
