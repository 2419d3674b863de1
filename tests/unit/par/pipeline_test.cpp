// SPDX-License-Identifier: Apache-2.0
// Tests par::pipeline.
#include <sennit/sennit.hpp>

#include "on_workers.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace par = sennit::par;

// A source of the numbers from 0 to count - 1.
auto numbers(int count) {
    return [next = 0, count]() mutable -> std::optional<int> {
        if (next == count) return std::nullopt;
        return next++;
    };
}

TEST(par_pipeline, items_pass_all_stages_and_arrive_in_order) {
    on_workers([] {
        for (std::size_t limit : {1u, 2u, 3u, 16u, 1000u}) {
            constexpr int count = 2000;
            std::vector<int> written; // plain: ThreadSanitizer reports two writers at once
            long sum = 0;
            par::pipeline(limit, numbers(count),
                          par::parallel([](int i) { return std::to_string(i); }),
                          par::one_at_a_time([&](std::string s) {
                              sum += static_cast<long>(s.size());
                              return s;
                          }),
                          par::parallel([](const std::string& s) { return std::stoi(s); }),
                          par::in_order([&](int i) { written.push_back(i); }));
            ASSERT_EQ(written.size(), std::size_t{count}) << limit;
            EXPECT_TRUE(std::is_sorted(written.begin(), written.end()));
            EXPECT_EQ(sum, 10 + 90 * 2 + 900 * 3 + 1000 * 4);
        }
    });
}

TEST(par_pipeline, limit_below_number_of_serial_stages_is_enough) {
    on_workers([] {
        std::vector<int> seen;
        par::pipeline(1, numbers(100), par::in_order([](int i) { return i; }),
                      par::one_at_a_time([](int i) { return i; }),
                      par::in_order([](int i) { return i; }),
                      par::in_order([&](int i) { seen.push_back(i); }));
        EXPECT_EQ(seen.size(), 100u);
        EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
    });
}

TEST(par_pipeline, at_most_limit_items_exist) {
    struct counted {
        explicit counted(std::atomic<int>& c) : alive(&c) { ++*alive; }
        counted(counted&& other) noexcept : alive(std::exchange(other.alive, nullptr)) {}
        ~counted() {
            if (alive) --*alive;
        }
        std::atomic<int>* alive;
    };
    on_workers([] {
        constexpr int limit = 4;
        std::atomic<int> alive{0};
        std::atomic<int> most{0};
        int left = 500;
        par::pipeline(
            limit,
            [&]() -> std::optional<counted> {
                if (left-- == 0) return std::nullopt;
                return counted(alive);
            },
            par::parallel([&](counted one) {
                int now = alive;
                for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
                }
                sennit::this_fiber::yield();
                return one;
            }),
            par::in_order([](counted) {}));
        EXPECT_EQ(alive, 0);
        EXPECT_LE(most, limit);
    });
}

TEST(par_pipeline, items_may_be_move_only_and_over_aligned) {
    struct alignas(128) wide {
        std::unique_ptr<int> value;
    };
    on_workers([] {
        int sum = 0;
        par::pipeline(
            8,
            [n = 0]() mutable -> std::optional<std::unique_ptr<int>> {
                if (n == 100) return std::nullopt;
                return std::make_unique<int>(n++);
            },
            par::parallel([](std::unique_ptr<int> p) { return wide{std::move(p)}; }),
            par::parallel([](wide w) {
                EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&w) % 128, 0u);
                return std::move(w.value);
            }),
            par::in_order([&](std::unique_ptr<int> p) { sum += *p; }));
        EXPECT_EQ(sum, 99 * 100 / 2);
    });
}

TEST(par_pipeline, stages_and_source_may_block) {
    on_workers([] {
        sennit::channel<int> input(2);
        sennit::channel<int> output(1);
        sennit::fiber feeder([&] {
            for (int i = 0; i < 200; ++i) input.push(i);
            input.close();
        });
        sennit::fiber reader([&] {
            int expected = 0;
            while (auto i = output.pop()) EXPECT_EQ(*i, expected++);
            return expected;
        });
        par::pipeline(
            6, [&] { return input.pop(); }, par::parallel([](int i) {
                if (i % 16 == 0) sennit::this_fiber::sleep_for(10us);
                return i;
            }),
            par::in_order([&](int i) {
                output.push(i); // blocks inside a serial stage
            }));
        output.close();
        feeder.join();
        EXPECT_EQ(reader.join<int>(), 200);
    });
}

TEST(par_pipeline, exception_of_lowest_item_stops_source) {
    on_workers([] {
        constexpr int count = 300;
        for (int thrower : {0, 1, 17, 299}) {
            std::atomic<int> alive{0};
            std::atomic<int> last{-1};
            int pulled = 0;
            const auto counted = [&](int i) {
                ++alive;
                return std::shared_ptr<int>(new int(i), [&](int* p) {
                    --alive;
                    delete p;
                });
            };
            try {
                par::pipeline(
                    8,
                    [&]() -> std::optional<std::shared_ptr<int>> {
                        if (pulled == count) return std::nullopt;
                        return counted(pulled++);
                    },
                    par::parallel([&](std::shared_ptr<int> p) {
                        if (*p >= thrower) throw std::runtime_error(std::to_string(*p));
                        return p;
                    }),
                    par::in_order([&](std::shared_ptr<int> p) { last = *p; }));
                ADD_FAILURE() << thrower;
            } catch (const std::runtime_error& error) {
                EXPECT_EQ(error.what(), std::to_string(thrower));
            }
            EXPECT_EQ(last, thrower - 1) << "the items before it are finished";
            EXPECT_EQ(alive, 0);
            EXPECT_LE(pulled, thrower + 9);
        }
    });
}

TEST(par_pipeline, exception_of_source_comes_after_its_items) {
    on_workers([] {
        std::vector<int> written;
        int next = 0;
        EXPECT_THROW(par::pipeline(
                         4,
                         [&]() -> std::optional<int> {
                             if (next == 50) throw std::logic_error("source");
                             return next++;
                         },
                         par::parallel([](int i) { return i; }),
                         par::in_order([&](int i) { written.push_back(i); })),
                     std::logic_error);
        EXPECT_EQ(written.size(), 50u);
    });
}

TEST(par_pipeline, cancellation_drops_items_and_wakes_stages) {
    on_workers([] {
        sennit::event never;
        sennit::event inside;
        std::atomic<int> alive{0};
        bool seen = false;
        sennit::nursery around;
        around.start([&] {
            try {
                par::pipeline(
                    4,
                    [&]() -> std::optional<std::shared_ptr<int>> {
                        ++alive;
                        return std::shared_ptr<int>(new int(0), [&](int* p) {
                            --alive;
                            delete p;
                        });
                    },
                    par::parallel([](std::shared_ptr<int> p) { return p; }),
                    par::in_order([&](std::shared_ptr<int>) {
                        inside.set();
                        never.wait();
                    }));
            } catch (const sennit::cancelled&) {
                seen = true;
            }
        });
        inside.wait();
        around.cancel();
        around.join();
        EXPECT_TRUE(seen);
        EXPECT_EQ(alive, 0);
    });
}

TEST(par_pipeline, pipelines_nest) {
    on_workers([] {
        long sum = 0;
        par::pipeline(4, numbers(20), par::parallel([](int i) {
                          long inner = 0;
                          par::pipeline(3, numbers(i), par::parallel([](int k) { return k; }),
                                        par::one_at_a_time([&](int k) { inner += k; }));
                          return inner;
                      }),
                      par::in_order([&](long v) { sum += v; }));
        EXPECT_EQ(sum, 1140);
    });
}

TEST(par_pipeline, empty_stream_thread_without_worker_and_bad_limit) {
    int calls = 0;
    par::pipeline(3, numbers(0), par::parallel([&](int) { ++calls; }));
    EXPECT_EQ(calls, 0);
    bool on_worker = false;
    par::pipeline(3, numbers(1),
                  par::in_order([&](int) { on_worker = sennit::detail::on_any_worker(); }));
    EXPECT_TRUE(on_worker);
    try {
        par::pipeline(0, numbers(1), par::in_order([](int) {}));
        ADD_FAILURE();
    } catch (const std::invalid_argument& error) {
        EXPECT_NE(std::string(error.what()).find("[SNT-076]"), std::string::npos);
    }
}

} // namespace
