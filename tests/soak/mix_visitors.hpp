// SPDX-License-Identifier: Apache-2.0
// Fibers and plain threads that a program of the soak starts and waits for.
#pragma once

#include "mix.hpp"

#include <sennit/blocking.hpp>
#include <sennit/fiber.hpp>

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

namespace soak {

// A limit that often ends at the moment of the event that it limits.
inline std::chrono::microseconds brief(dice& with) {
    return std::chrono::microseconds(with.from(0, 60));
}

class visitors {
public:
    visitors() = default;
    visitors(const visitors&) = delete;
    visitors& operator=(const visitors&) = delete;
    ~visitors() { join(); }

    template <class F>
    void fiber(F&& function) {
        fibers_.emplace_back(std::forward<F>(function));
    }
    template <class F>
    void fiber(const sennit::fiber_attributes& how, F&& function) {
        fibers_.emplace_back(how, std::forward<F>(function));
    }
    template <class F>
    void thread(F&& function) {
        threads_.emplace_back(std::forward<F>(function));
    }
    // Starts a thread now and then, otherwise a fiber.
    template <class F>
    void either(dice& with, F&& function) {
        if (with.from(0, 7) == 0)
            thread(std::forward<F>(function));
        else
            fiber(std::forward<F>(function));
    }
    void join() {
        for (auto& one : fibers_) one.join();
        fibers_.clear();
        // The threads may need this worker.
        if (!threads_.empty())
            sennit::blocking([this] {
                for (auto& one : threads_) one.join();
            });
        threads_.clear();
    }
    std::vector<sennit::fiber>& fibers() noexcept { return fibers_; }

private:
    std::vector<sennit::fiber> fibers_;
    std::vector<std::thread> threads_;
};

} // namespace soak
