// SPDX-License-Identifier: Apache-2.0
// Workloads of actors, written with fibers and channels as in Go. The buffer of producer-consumer
// is a channel, and a second channel counts the items that have arrived. ../fibers/main.hpp lists
// the operations that the runtime R must supply.
#pragma once

#include "sizes.hpp"

#include <optional>
#include <string>
#include <vector>

namespace lab {

template <class R>
struct producer_consumer_of_fibers : actor_workload {
    using actor_workload::actor_workload;
    static constexpr std::size_t mailbox = 128; // of the fiber that counts, as in Go

    std::int64_t run() const {
        using channel = typename R::template buffered<std::int64_t>;
        channel buffer(static_cast<std::size_t>(buffer_size));
        channel arrived(mailbox);
        std::vector<typename R::fiber> all;
        for (std::int64_t i = 0; i < producers; ++i)
            all.push_back(R::start([&buffer, left = share_of(n, producers, i)]() mutable {
                for (; left > 0; --left) buffer.push(left);
            }));
        for (std::int64_t i = 0; i < consumers; ++i)
            all.push_back(R::start([&buffer, &arrived, left = share_of(n, consumers, i)]() mutable {
                for (; left > 0; --left) {
                    (void)buffer.pop();
                    arrived.push(1);
                }
            }));
        std::int64_t sum = 0;
        while (sum < n) sum += arrived.pop();
        for (auto& one : all) one.join();
        return sum;
    }
};

template <class R>
struct fiber_servants {
    static std::optional<int> run(const std::string& name, const std::string& size,
                                  unsigned threads) {
        if (name == "producer-consumer")
            return measure<R>(producer_consumer_of_fibers<R>(size), threads);
        return std::nullopt;
    }
};

} // namespace lab
