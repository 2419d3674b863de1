// SPDX-License-Identifier: Apache-2.0
// The cost of a time limit on every read: two fibers send a byte to and fro over a pair of sockets,
// so each read waits.
//
//     bench_read_limit [rounds]
//
// Each round times three forms right after each other, in rotating order: reads without a limit,
// with the limit of the handle, and in a with_timeout. The program prints the medians of the times
// of a read, and of the differences of the rounds. One worker.
#include <sennit/io.hpp>
#include <sennit/nursery.hpp>
#include <sennit/runtime.hpp>
#include <sennit/with_timeout.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

namespace {

namespace io = sennit::io;
using namespace std::chrono_literals;

enum form : std::size_t { without, of_handle, in_scope, forms };
constexpr int exchanges = 5'000; // Two reads each.

void exchange(io::unix_stream& with, bool begins, form how) {
    std::array<std::byte, 1> byte{};
    if (begins) with.write(byte);
    for (int i = 0; i < exchanges; ++i) {
        const std::size_t n =
            how == in_scope ? sennit::with_timeout(10s, [&] { return with.read_some(byte); })
                            : with.read_some(byte);
        if (n != 1) std::abort();
        if (!begins || i + 1 != exchanges) with.write(byte);
    }
}

double ns_per_read(io::unix_stream& mine, io::unix_stream& yours, form how) {
    for (io::unix_stream* one : {&mine, &yours})
        how == of_handle ? one->timeout(10s) : one->no_timeout();
    const auto start = std::chrono::steady_clock::now();
    sennit::nursery both;
    both.start([&] { exchange(mine, true, how); });
    both.start([&] { exchange(yours, false, how); });
    both.join();
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start)
               .count() /
           (2.0 * exchanges);
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

} // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 101;
    sennit::runtime one({.workers = 1});
    one.run([&] {
        auto [mine, yours] = io::socket_pair();
        std::array<std::vector<double>, forms> times, more;
        for (int i = -1; i < rounds; ++i) { // The first round warms up.
            std::array<double, forms> ns{};
            for (std::size_t k = 0; k < forms; ++k) {
                const std::size_t how = (k + static_cast<std::size_t>(i + 1)) % forms;
                ns[how] = ns_per_read(mine, yours, static_cast<form>(how));
            }
            for (std::size_t how = 0; i >= 0 && how < forms; ++how) {
                times[how].push_back(ns[how]);
                more[how].push_back(ns[how] - ns[without]);
            }
        }
        std::printf("a read %.0f ns, with a limit of the handle %.0f ns (%+.0f), in a with_timeout "
                    "%.0f ns (%+.0f)\n",
                    median(times[without]), median(times[of_handle]), median(more[of_handle]),
                    median(times[in_scope]), median(more[in_scope]));
    });
}
