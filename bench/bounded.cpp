// SPDX-License-Identifier: Apache-2.0
// Figures of bounded families: a child of a nursery with a limit against a child of a nursery
// without one, an item of map_concurrent and of as_completed, a lease of a pool, and an addition to
// a counter. Run it on an otherwise idle machine.
#include <sennit/sennit.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <ranges>
#include <vector>

namespace {

constexpr int rounds = 21;
constexpr int count = 100'000;

// The time of one operation in ns: the median of the rounds.
double ns_each(const std::function<void()>& body) {
    std::vector<double> times;
    for (int i = 0; i < rounds; ++i) {
        const auto start = std::chrono::steady_clock::now();
        body();
        const std::chrono::duration<double, std::nano> took =
            std::chrono::steady_clock::now() - start;
        times.push_back(took.count() / count);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

void keep(long value) {
    asm volatile("" ::"r"(value) : "memory");
}

// Starts batches of children that a place is free for, so that `start` never waits.
void nursery_children(const sennit::nursery_options& how, int batch) {
    sennit::nursery children(how);
    for (int i = 0; i < count; i += batch) {
        for (int k = 0; k < batch; ++k) children.start([] {});
        children.join();
    }
}

void all_figures() {
    std::printf("  fiber, created and joined        %7.1f ns\n", ns_each([] {
                    for (int i = 0; i < count; ++i) sennit::fiber([] {}).join();
                }));
    std::printf("  child, no limit                  %7.1f ns\n",
                ns_each([] { nursery_children({}, 100); }));
    std::printf("  child, a place is free           %7.1f ns\n",
                ns_each([] { nursery_children({.limit = 100}, 100); }));
    for (const std::size_t limit : {1u, 16u}) {
        std::printf("  child, start waits, limit %2zu     %7.1f ns\n", limit, ns_each([&] {
                        nursery_children({.limit = limit}, count);
                    }));
        std::printf("  map_concurrent, limit %2zu         %7.1f ns\n", limit, ns_each([&] {
                        const auto all = sennit::map_concurrent(std::views::iota(0, count), limit,
                                                                [](int n) { return n; });
                        keep(all.back());
                    }));
        std::printf("  as_completed, limit %2zu           %7.1f ns\n", limit, ns_each([&] {
                        for (const int n : sennit::as_completed(std::views::iota(0, count), limit,
                                                                [](int k) { return k; }))
                            keep(n);
                    }));
    }
    sennit::lease_pool<long> pool([] { return 0L; });
    std::printf("  lease, borrowed and returned     %7.1f ns\n", ns_each([&] {
                    for (int i = 0; i < count; ++i) ++*pool.borrow();
                }));
    sennit::counter events;
    std::printf("  counter, one addition            %7.1f ns\n", ns_each([&] {
                    for (int i = 0; i < count; ++i) events.add();
                }));
    std::atomic<std::int64_t> one{0};
    std::printf("  std::atomic, one addition        %7.1f ns\n", ns_each([&] {
                    for (int i = 0; i < count; ++i) one.fetch_add(1, std::memory_order_relaxed);
                }));
    sennit::rate_limiter limiter({.per_second = 1e12, .burst = 1'000'000});
    std::printf("  rate_limiter, a token is there   %7.1f ns\n", ns_each([&] {
                    for (int i = 0; i < count; ++i) limiter.acquire();
                }));
}

} // namespace

int main() {
    for (const unsigned workers : {1u, 2u}) {
        std::printf("%u worker(s)\n", workers);
        sennit::runtime({.workers = workers}).run(&all_figures);
    }
}
