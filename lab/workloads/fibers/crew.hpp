// SPDX-License-Identifier: Apache-2.0
// A crew: a given number of fibers that all wait at one gate before it is opened.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lab {

// excerpt crew

// Each fiber calls `wait(gate)`. Returns the number of calls that returned true, once all fibers
// have ended.
template <class R, class Wait>
std::int64_t crew_at_gate(std::int64_t n, Wait wait) {
    struct {
        Wait wait;
        typename R::event gate{};
        std::atomic<std::int64_t> arrived = 0, passed = 0;
    } crew{wait};
    std::vector<typename R::fiber> all(static_cast<std::size_t>(n));
    for (auto& one : all)
        one = R::start([&crew] { // captures one word: all other memory of a fiber is the runtime's
            crew.arrived.fetch_add(1, std::memory_order_relaxed);
            if (crew.wait(crew.gate)) crew.passed.fetch_add(1, std::memory_order_relaxed);
        });
    while (crew.arrived.load(std::memory_order_relaxed) < n) R::yield();
    crew.gate.set();
    for (auto& one : all) one.join();
    return crew.passed.load(std::memory_order_relaxed);
}
// excerpt end

} // namespace lab
