// SPDX-License-Identifier: Apache-2.0
// The cost for an owner whose state searching workers read: an owner pushes and pops forks, which
// stores and loads words of its line, and other threads read a word of that owner now and then, or
// set a request for work there. Two layouts: all words in one line, and the words that other
// threads use in a line of their own.
//
//     polled_line [MOST_THREADS]
#include "measure.hpp"

#include <atomic>
#include <thread>

using namespace sweep;

namespace {

struct alignas(128) one_line {
    std::atomic<std::uint64_t> head{0}, split{0};
    std::atomic<std::uint32_t> requested{0};
    std::atomic<void*> context{nullptr};
};

struct alignas(128) two_lines {
    std::atomic<std::uint64_t> head{0}, split{0};
    alignas(128) std::atomic<std::uint32_t> requested{0};
    std::atomic<void*> context{nullptr};
};

// Pushes and pops until the end; returns the nanoseconds of a pair.
template <class Line>
double push_and_pop(Line& mine, const std::atomic<bool>& stop) {
    std::uint64_t n = 0;
    const std::int64_t start = now_ns();
    while (!stop.load(std::memory_order_relaxed))
        for (int i = 0; i < 1000; ++i, ++n) {
            mine.head.store(n, std::memory_order_release);
            if (mine.requested.load(std::memory_order_relaxed) != 0)
                mine.requested.store(0, std::memory_order_relaxed);
            asm volatile("" ::: "memory");
            mine.head.store(n - 1, std::memory_order_release);
            if (mine.split.load(std::memory_order_relaxed) > n) std::puts("");
        }
    return static_cast<double>(now_ns() - start) / static_cast<double>(n);
}

template <class Line>
void search(std::vector<Line>& lines, bool requests, const std::atomic<bool>& stop) {
    std::uint64_t seen = 0;
    while (!stop.load(std::memory_order_relaxed)) {
        for (Line& each : lines) {
            seen += each.context.load() != nullptr;
            if (requests && each.requested.load() == 0) each.requested.store(1);
        }
        for (int i = 0; i < 32; ++i) relax();
    }
    if (seen == 42) std::puts(""); // keeps the loads
}

template <class Line>
double pair_ns(const std::vector<unsigned>& list, unsigned owners, unsigned searchers,
               bool requests) {
    std::atomic<bool> stop{false};
    std::vector<Line> lines(owners);
    std::vector<double> ns(owners);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < owners; ++i)
        threads.emplace_back([&, i] {
            pin(list, i);
            ns[i] = push_and_pop(lines[i], stop);
        });
    for (unsigned i = 0; i < searchers; ++i)
        threads.emplace_back([&, i] {
            pin(list, owners + i);
            search(lines, requests, stop);
        });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop = true;
    for (std::thread& one : threads) one.join();
    return quantile(ns, 0.5);
}

void print(const std::vector<unsigned>& list, unsigned owners, unsigned searchers, bool requests) {
    row("polled_line")
        .add("owners", owners)
        .add("searchers", searchers)
        .add("they", requests ? "request" : "read")
        .add("one_line_ns", pair_ns<one_line>(list, owners, searchers, requests))
        .add("two_lines_ns", pair_ns<two_lines>(list, owners, searchers, requests))
        .print();
}

} // namespace

int main(int argc, char** argv) {
    const std::vector<unsigned> list = processors();
    const auto all = static_cast<unsigned>(list.size());
    const unsigned most = std::min(all, count(argc, argv, 1, all));
    print(list, 1, 0, false);
    for (const bool requests : {false, true})
        for (unsigned n = 1; n < most; n = next_count(n, most)) print(list, 1, n, requests);
    if (most < 4) return 0;
    for (const bool requests : {false, true}) print(list, most / 2, most - most / 2, requests);
}
