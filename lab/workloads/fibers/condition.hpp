// SPDX-License-Identifier: Apache-2.0
// condition: two fibers take turns. Each fiber waits for its turn with a mutex and a condition
// variable. Size is the number of hand-overs of both fibers together.
#pragma once

#include "count.hpp"

#include <mutex>

namespace lab {

// excerpt condition
template <class R>
struct condition : counted {
    using counted::counted;

    struct table {
        typename R::mutex mutex;
        std::array<typename R::condition_variable, 2> mine;
        std::size_t turn = 0;
        std::int64_t count = 0;

        void play(std::size_t me, std::int64_t rounds) {
            std::unique_lock lock(mutex);
            for (std::int64_t i = 0; i < rounds; ++i) {
                mine[me].wait(lock, [&] { return turn == me; });
                ++count;
                turn = 1 - me;
                mine[turn].notify_one();
            }
        }
    };

    std::int64_t run() const {
        table shared;
        typename R::fiber first =
            R::start([&shared, rounds = n - n / 2] { shared.play(0, rounds); });
        typename R::fiber second = R::start([&shared, rounds = n / 2] { shared.play(1, rounds); });
        first.join();
        second.join();
        return shared.count;
    }
};
// excerpt end

} // namespace lab
