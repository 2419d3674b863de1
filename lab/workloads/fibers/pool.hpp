// SPDX-License-Identifier: Apache-2.0
// pool-0, pool-200ns, pool-1us, pool-5us: a pool of eight fibers that take jobs from one channel
// and put results into another, both with room for 128. One fiber sends the jobs, and the fiber
// that began receives the results. Size is the number of jobs; the answer is the sum of the
// results.
//
// The work of a job is a number of steps of xorshift (work.hpp), whose state never becomes zero; so
// the result of a job is the number of the job.
#pragma once

#include "count.hpp"
#include "work.hpp"

namespace lab {

// excerpt pool
template <class R>
struct pool : summed {
    static constexpr std::size_t fibers = 8;
    static constexpr std::size_t capacity = 128;
    static constexpr std::int64_t end = -1; // The job that ends a fiber.
    std::int64_t steps;                     // The work of each job.
    pool(const std::string& size, std::int64_t steps_of_each)
        : summed(size), steps(steps_of_each) {}

    static std::int64_t work(std::int64_t job, std::int64_t steps) {
        return job + (xorshift(static_cast<std::uint64_t>(job) + 1, steps) == 0);
    }

    std::int64_t run() const {
        typename R::template buffered<std::int64_t> jobs(capacity), results(capacity);
        std::array<typename R::fiber, fibers> all;
        for (auto& one : all)
            one = R::start([&jobs, &results, steps = steps] {
                for (std::int64_t job = jobs.pop(); job != end; job = jobs.pop())
                    results.push(work(job, steps));
            });
        typename R::fiber sender = R::start([&jobs, count = n] {
            for (std::int64_t job = 0; job < count; ++job) jobs.push(job);
            for (std::size_t i = 0; i < fibers; ++i) jobs.push(end);
        });
        std::int64_t sum = 0;
        for (std::int64_t i = 0; i < n; ++i) sum += results.pop();
        sender.join();
        for (auto& one : all) one.join();
        return sum;
    }
};
// excerpt end

} // namespace lab
