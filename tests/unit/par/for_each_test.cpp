// SPDX-License-Identifier: Apache-2.0
// Tests par::for_each and par::for_each_n.
#include <sennit/sennit.hpp>

#include "on_workers.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <numeric>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using sennit::par::grain;

// Each element has one plain byte. The byte shows a second visit, and ThreadSanitizer reports a
// race on it.
void expect_once(const std::vector<unsigned char>& visits, std::size_t elements = 0) {
    EXPECT_EQ(std::count(visits.begin(), visits.end(), 1),
              static_cast<std::ptrdiff_t>(visits.size()))
        << "grain " << elements;
}

TEST(par_for_each_n, every_index_is_visited_once) {
    on_workers([] {
        for (std::size_t n : sizes) {
            std::vector<unsigned char> visits(n);
            sennit::par::for_each_n(n, [&](std::size_t i) { ++visits[i]; });
            expect_once(visits);
        }
    });
}

TEST(par_for_each_n, every_index_is_visited_once_with_any_grain) {
    on_workers([] {
        for (std::size_t n : sizes) {
            for (std::size_t elements : {std::size_t{0}, std::size_t{1}, std::size_t{3},
                                         std::size_t{100}, ~std::size_t{0}}) {
                std::vector<unsigned char> visits(n);
                sennit::par::for_each_n(grain{elements}, n, [&](std::size_t i) { ++visits[i]; });
                expect_once(visits, elements);
            }
        }
    });
}

TEST(par_for_each_n, for_each_n_takes_iterator_and_count) {
    on_workers([] {
        std::vector<int> values(1000, 1);
        sennit::par::for_each_n(values.begin() + 10, 900, [](int& v) { ++v; });
        EXPECT_EQ(std::count(values.begin() + 10, values.begin() + 910, 2), 900);
        EXPECT_EQ(std::count(values.begin(), values.end(), 1), 100);
        sennit::par::for_each_n(values.begin(), -5, [](int&) { FAIL(); });
    });
}

TEST(par_for_each, for_each_takes_vectors_deques_spans_arrays_and_views) {
    on_workers([] {
        const auto increment = [](int& v) { ++v; };
        std::vector<int> vector(5000, 1);
        sennit::par::for_each(vector, increment);
        sennit::par::for_each(vector.begin(), vector.end(), increment);
        sennit::par::for_each(grain{16}, std::span(vector), increment);
        EXPECT_EQ(std::count(vector.begin(), vector.end(), 4), 5000);

        std::deque<int> deque(5000, 1);
        sennit::par::for_each(deque, increment);
        EXPECT_EQ(std::count(deque.begin(), deque.end(), 2), 5000);

        int array[3] = {1, 1, 1};
        sennit::par::for_each(array, increment);
        EXPECT_EQ(array[0] + array[1] + array[2], 6);

        std::vector<unsigned char> visits(5000);
        sennit::par::for_each(std::views::iota(0, 5000),
                              [&](int i) { ++visits[static_cast<std::size_t>(i)]; });
        expect_once(visits);
    });
}

TEST(par_for_each, for_each_takes_move_only_elements_and_callables) {
    on_workers([] {
        std::vector<std::unique_ptr<int>> boxes;
        for (int i = 0; i < 1000; ++i) boxes.push_back(std::make_unique<int>(i));
        auto add = [step = std::make_unique<int>(7)](std::unique_ptr<int>& box) { *box += *step; };
        sennit::par::for_each(boxes, add);
        for (int i = 0; i < 1000; ++i) ASSERT_EQ(*boxes[static_cast<std::size_t>(i)], i + 7);

        struct counted {
            int value;
        };
        std::vector<counted> objects(100, counted{3});
        sennit::par::for_each(objects, &counted::value); // Any invocable works, as in std.
    });
}

// The thread changes only between chunks. A run of elements with one thread therefore begins at a
// multiple of the grain.
TEST(par_for_each_n, chunks_begin_at_multiples_of_grain) {
    on_workers([] {
        constexpr std::size_t n = 20'000;
        constexpr std::size_t elements = 37;
        std::vector<std::thread::id> visitor(n);
        std::atomic<unsigned> sink{0};
        sennit::par::for_each_n(grain{elements}, n, [&](std::size_t i) {
            visitor[i] = std::this_thread::get_id();
            for (unsigned k = 0; k < 200; ++k) sink.fetch_add(k, std::memory_order_relaxed);
        });
        for (std::size_t i = 1; i < n; ++i)
            ASSERT_TRUE(i % elements == 0 || visitor[i] == visitor[i - 1]) << "at " << i;
    });
}

// The test hangs if one worker must run both elements.
TEST(par_for_each_n, two_long_elements_run_on_two_workers) {
    sennit::runtime runtime({.workers = 2});
    std::atomic<int> started{0};
    runtime.run([&] {
        sennit::par::for_each_n(2, [&](std::size_t) {
            ++started;
            while (started.load() < 2) std::this_thread::yield();
        });
    });
    EXPECT_EQ(started.load(), 2);
}

TEST(par_for_each_n, exception_of_lowest_throwing_element_is_reported) {
    on_workers([] {
        for (std::size_t n :
             {std::size_t{1}, std::size_t{2}, std::size_t{1000}, std::size_t{100'000}}) {
            for (std::size_t bad : {std::size_t{0}, n / 3, n - 1}) {
                std::vector<unsigned char> visits(n);
                std::string what;
                try {
                    sennit::par::for_each_n(n, [&](std::size_t i) {
                        ++visits[i];
                        if (i >= bad) throw std::runtime_error(std::to_string(i));
                    });
                } catch (const std::runtime_error& error) {
                    what = error.what();
                }
                EXPECT_EQ(what, std::to_string(bad)) << "of " << n;
                for (std::size_t i = 0; i <= bad; ++i) ASSERT_EQ(visits[i], 1);
                for (std::size_t i = bad + 1; i < n; ++i) ASSERT_LE(visits[i], 1);
            }
        }
    });
}

TEST(par_for_each_n, exception_drops_remaining_elements) {
    sennit::runtime runtime({.workers = 1});
    std::size_t visited = 0;
    runtime.run([&] {
        EXPECT_THROW(sennit::par::for_each_n(1000,
                                             [&](std::size_t i) {
                                                 ++visited;
                                                 if (i == 10) throw std::runtime_error("stop");
                                             }),
                     std::runtime_error);
    });
    EXPECT_EQ(visited, 11u);
}

TEST(par_for_each_n, loops_nest) {
    on_workers([] {
        constexpr std::size_t rows = 50;
        constexpr std::size_t columns = 300;
        std::vector<unsigned char> visits(rows * columns);
        sennit::par::for_each_n(rows, [&](std::size_t r) {
            sennit::par::for_each_n(columns, [&](std::size_t c) { ++visits[r * columns + c]; });
        });
        expect_once(visits);
    });
}

TEST(par_for_each_n, loops_nest_with_fork_join_and_scope) {
    on_workers([] {
        std::vector<unsigned char> visits(4000);
        const auto part = [&](std::size_t from) {
            sennit::par::for_each_n(1000, [&, from](std::size_t i) {
                if (i % 2 == 0)
                    sennit::fork_join([&] { ++visits[from + i]; }, [&] { ++visits[from + i + 1]; });
            });
        };
        sennit::fork_join([&] { part(0); }, [&] { part(1000); });
        sennit::scope children;
        children.spawn([&] { part(2000); });
        children.spawn([&] { part(3000); });
        children.join();
        expect_once(visits);

        std::atomic<int> spawned{0};
        sennit::par::for_each_n(100, [&](std::size_t) {
            sennit::scope inner;
            for (int k = 0; k < 3; ++k) inner.spawn([&] { ++spawned; });
        });
        EXPECT_EQ(spawned.load(), 300);
    });
}

TEST(par_for_each, plain_thread_runs_loop) {
    std::vector<unsigned char> visits(10'000);
    std::thread foreign([&] { sennit::par::for_each(visits, [](unsigned char& v) { ++v; }); });
    foreign.join();
    expect_once(visits);
    EXPECT_THROW(sennit::par::for_each_n(10, [](std::size_t) { throw std::runtime_error("x"); }),
                 std::runtime_error);
}

TEST(par_for_each_n, for_each_n_takes_mutable_callable) {
    on_workers([] {
        std::atomic<int> counted{0};
        sennit::par::for_each_n(1000,
                                [&counted, own = 0](std::size_t) mutable { counted += ++own > 0; });
        EXPECT_EQ(counted.load(), 1000);
    });
}

} // namespace
