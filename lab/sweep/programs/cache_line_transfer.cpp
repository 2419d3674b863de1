// SPDX-License-Identifier: Apache-2.0
// The time in which a cache line moves from one processor to another: half a round trip, for every
// pair of processors; the least, median and largest of them.
//
//     cache_line_transfer
#include "measure.hpp"

#include <atomic>
#include <thread>

using namespace sweep;

namespace {

constexpr std::uint32_t turns = 4000; // of a round
constexpr std::uint32_t rounds = 3;   // the fastest counts

struct alignas(128) line {
    std::atomic<std::uint32_t> number{0};
};

void wait_for(const line& ball, std::uint32_t number) {
    while (ball.number.load(std::memory_order_acquire) != number) relax();
}

double transfer_ns(const std::vector<unsigned>& list, std::size_t here, std::size_t there) {
    line ball;
    std::thread other([&] {
        pin(list, there);
        for (std::uint32_t turn = 0; turn < rounds * turns; ++turn) {
            wait_for(ball, 2 * turn + 1);
            ball.number.store(2 * turn + 2, std::memory_order_release);
        }
    });
    pin(list, here);
    double best = 1e9;
    for (std::uint32_t round = 0; round < rounds; ++round) {
        const std::int64_t start = now_ns();
        for (std::uint32_t turn = round * turns; turn < (round + 1) * turns; ++turn) {
            ball.number.store(2 * turn + 1, std::memory_order_release);
            wait_for(ball, 2 * turn + 2);
        }
        best = std::min(best, static_cast<double>(now_ns() - start) / turns / 2);
    }
    other.join();
    return best;
}

} // namespace

int main() {
    const std::vector<unsigned> list = processors();
    std::vector<double> all;
    for (std::size_t here = 0; here < list.size(); ++here)
        for (std::size_t there = 0; there < here; ++there)
            all.push_back(transfer_ns(list, here, there));
    row("cache_line_transfer")
        .add("pairs", static_cast<double>(all.size()))
        .add("min_ns", quantile(all, 0))
        .add("p50_ns", quantile(all, 0.5))
        .add("max_ns", quantile(all, 1))
        .print();
}
