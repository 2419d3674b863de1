// SPDX-License-Identifier: Apache-2.0
// locality: each fiber adds one to some random words of an array, puts itself into a random spot,
// wakes the fiber that sat there, and waits until another fiber wakes it. locality-share: a fiber
// also gives its array to the fiber that it wakes. The workload shows the cost of data that is on
// another processor. Size is the number of rounds of all fibers together. The program follows
// Delisle, The C-for-all Scheduler, 2022: 64 fibers in 60 spots, so 4 are at work; arrays of 512
// words, 64 touches. The answer is the sum of all words, divided by the touches.
//
// The end of a run. All fibers draw their rounds from one count. A fiber that draws none sets
// `over`, empties all spots and wakes the fibers that sat there. A fiber that has sat down reads
// `over` once more. If it is set and no other fiber has taken the sitting fiber out of its spot,
// the sitting fiber stands up again.
#pragma once

#include "count.hpp"
#include "random.hpp"

#include <atomic>
#include <utility>

namespace lab {

template <class R, bool share>
struct locality : counted {
    using counted::counted;
    static constexpr std::int64_t strands = 64, spots = 60, words = 512, touches = 64;

    struct strand {
        typename R::semaphore woken;
        std::array<std::int64_t, words>* data = nullptr; // its own array while it is at work
    };

    std::int64_t run() const {
        std::vector<std::array<std::int64_t, words>> arrays(strands);
        std::vector<strand> all(strands);
        std::array<std::atomic<strand*>, spots> seats{};
        std::atomic<std::int64_t> left = n;
        std::atomic<bool> over = false;
        std::array<typename R::fiber, strands> fibers;
        const auto body = [&](std::int64_t f) {
            strand& me = all[static_cast<std::size_t>(f)];
            random_numbers chance(f);
            while (left.fetch_sub(1) > 0) {
                for (std::int64_t i = 0; i < touches; ++i) ++(*me.data)[chance.below(words)];
                std::atomic<strand*>& seat = seats[chance.below(spots)];
                strand* const before = take_from(seat);
                if (before) {
                    // `before` waits or is about to wait, so this fiber owns its data.
                    if constexpr (share) std::swap(before->data, me.data);
                }
                strand* mine = nullptr;
                const bool sits = seat.compare_exchange_strong(mine, &me);
                if (before) before->woken.release();
                if (!sits) continue; // another fiber has sat down meanwhile
                mine = &me;
                if (over.load() && seat.compare_exchange_strong(mine, nullptr)) break;
                me.woken.acquire();
            }
            over = true;
            for (auto& seat : seats)
                if (strand* other = take_from(seat)) other->woken.release();
        };
        for (std::int64_t f = 0; f < strands; ++f)
            all[static_cast<std::size_t>(f)].data = &arrays[static_cast<std::size_t>(f)];
        for (std::int64_t f = 0; f < strands; ++f)
            fibers[static_cast<std::size_t>(f)] = R::start([&body, f] { body(f); });
        for (auto& one : fibers) one.join();
        std::int64_t sum = 0;
        for (const auto& array : arrays)
            for (const std::int64_t word : array) sum += word;
        return sum / touches;
    }

private:
    static strand* take_from(std::atomic<strand*>& seat) { return seat.exchange(nullptr); }
};

} // namespace lab
