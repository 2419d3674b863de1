// SPDX-License-Identifier: Apache-2.0
// mpmc, mpmc-unbuffered, mpmc-4, mpmc-4-unbuffered: several producers and as many consumers share
// one channel. Size is the number of messages, which are the numbers from 0 up; each producer sends
// a range of them. The answer is their sum, which each consumer computes for its own messages.
//
// The tasks and their numbers are those of the channel benchmark of runtime-benchmarks: half as
// many producers as workers, at least one, and as many consumers; or four of each, which is that
// benchmark's default and its case of one thread. The suite's channels have no bound (libcoro,
// TooManyCooks) or no buffer (cobalt). Here a channel has room for 128 messages, or no buffer.
#pragma once

#include "count.hpp"

#include <algorithm>

namespace lab {

// excerpt mpmc
template <class R, class Channel>
std::int64_t many_to_many(Channel& channel, std::int64_t n, std::int64_t each_side) {
    constexpr std::int64_t end = -1; // The message that ends a consumer.
    struct alignas(128) partial {
        std::int64_t sum = 0;
    };
    std::vector<typename R::fiber> producers, consumers;
    std::vector<partial> sums(static_cast<std::size_t>(each_side));
    for (std::int64_t i = 0, first = 0; i < each_side; ++i) {
        const std::int64_t last = first + n / each_side + (i < n % each_side);
        producers.push_back(R::start([&channel, first, last] {
            for (std::int64_t number = first; number < last; ++number) channel.push(number);
        }));
        first = last;
    }
    for (partial& mine : sums)
        consumers.push_back(R::start([&channel, &mine] {
            std::int64_t sum = 0;
            for (std::int64_t got = channel.pop(); got != end; got = channel.pop()) sum += got;
            mine.sum = sum;
        }));
    for (auto& one : producers) one.join();
    for (std::int64_t i = 0; i < each_side; ++i) channel.push(end);
    for (auto& one : consumers) one.join();
    std::int64_t sum = 0;
    for (const partial& one : sums) sum += one.sum;
    return sum;
}
// excerpt end

// Half of the workers produce; 0 stands for that number.
template <class R>
struct mpmc : summed {
    std::int64_t each_side;
    mpmc(const std::string& size, unsigned threads, std::int64_t tasks = 0)
        : summed(size), each_side(tasks ? tasks : std::max(1u, threads / 2)) {}

    std::int64_t run() const {
        typename R::template buffered<std::int64_t> channel(128);
        return many_to_many<R>(channel, n, each_side);
    }
};

template <class R>
struct mpmc_unbuffered : mpmc<R> {
    using mpmc<R>::mpmc;

    std::int64_t run() const {
        typename R::template rendezvous<std::int64_t> channel;
        return many_to_many<R>(channel, this->n, this->each_side);
    }
};

// The table of these workloads, for a class as of main.hpp.
template <class R>
struct many_producers {
    static constexpr std::int64_t default_tasks = 4;

    static std::optional<int> run(const std::string& name, const std::string& size,
                                  unsigned threads) {
        if (name == "mpmc") return measure<R>(mpmc<R>(size, threads), threads);
        if (name == "mpmc-4") return measure<R>(mpmc<R>(size, threads, default_tasks), threads);
        if constexpr (requires { typename R::template rendezvous<std::int64_t>; }) {
            if (name == "mpmc-unbuffered")
                return measure<R>(mpmc_unbuffered<R>(size, threads), threads);
            if (name == "mpmc-4-unbuffered")
                return measure<R>(mpmc_unbuffered<R>(size, threads, default_tasks), threads);
        }
        return std::nullopt;
    }
};

} // namespace lab
