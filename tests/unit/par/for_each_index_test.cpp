// SPDX-License-Identifier: Apache-2.0
// Tests par::for_each_index and par::for_each_tile.
#include "oracle.hpp"

#include <sennit/nursery.hpp>

#include <atomic>
#include <stdexcept>

namespace {

namespace par = sennit::par;

TEST(par_for_each_index, each_index_is_visited_once) {
    on_workers([] {
        for (std::size_t ny : {0u, 1u, 7u, 100u}) {
            for (std::size_t nx : {0u, 1u, 63u, 3000u}) {
                std::vector<int> visits(ny * nx);
                par::for_each_index({ny, nx},
                                    [&](std::size_t y, std::size_t x) { ++visits[y * nx + x]; });
                for (par::index_extents<2> size :
                     {par::index_extents<2>{1, 1}, {8, 8}, {3, 1000}, {0, 200}, {500, 5000}})
                    par::for_each_index(
                        par::with{.max_grain = 3}, {ny, nx}, size,
                        [&](std::size_t y, std::size_t x) { ++visits[y * nx + x]; });
                EXPECT_EQ(std::ranges::count(visits, 6), std::ssize(visits));
            }
        }
    });
}

TEST(par_for_each_index, three_dimensions) {
    on_workers([] {
        constexpr std::size_t nz = 5, ny = 17, nx = 33;
        std::vector<int> visits(nz * ny * nx);
        const auto visit = [&](std::size_t z, std::size_t y, std::size_t x) {
            oracle::yield_at(x + y);
            ++visits[(z * ny + y) * nx + x];
        };
        par::for_each_index({nz, ny, nx}, visit);
        par::for_each_index({nz, ny, nx}, {2, 4, 8}, visit);
        std::atomic<std::size_t> indices{0};
        par::for_each_tile({nz, ny, nx}, {2, 4, 8}, [&](const par::tile<3>& t) {
            std::size_t inside = 1;
            for (std::size_t d = 0; d != 3; ++d) {
                EXPECT_LT(t.first[d], t.last[d]);
                inside *= t.last[d] - t.first[d];
            }
            EXPECT_LE(inside, 64u);
            indices += inside;
        });
        EXPECT_EQ(indices.load(), nz * ny * nx);
        EXPECT_EQ(std::ranges::count(visits, 2), std::ssize(visits));
    });
}

TEST(par_for_each_tile, tiles_come_row_by_row_on_one_worker) {
    sennit::runtime runtime({.workers = 1});
    runtime.run([] {
        std::vector<std::pair<std::size_t, std::size_t>> begins;
        par::for_each_tile({5, 7}, {2, 4}, [&](const par::tile<2>& t) {
            begins.emplace_back(t.first[0], t.first[1]);
        });
        const std::vector<std::pair<std::size_t, std::size_t>> expected{{0, 0}, {0, 4}, {2, 0},
                                                                        {2, 4}, {4, 0}, {4, 4}};
        EXPECT_EQ(begins, expected);
    });
}

TEST(par_for_each_index, exception_is_that_of_the_lowest_tile) {
    on_workers([] {
        const auto error = oracle::error_of([] {
            par::for_each_index({100, 100}, {1, 100}, [](std::size_t y, std::size_t) {
                if (y >= 37) throw std::runtime_error(std::to_string(y));
            });
        });
        EXPECT_EQ(error, "37");
    });
}

TEST(par_for_each_index, cancelled_loop_throws) {
    on_workers([] {
        bool threw = false;
        sennit::nursery jobs;
        jobs.start([&] {
            std::atomic<int> calls{0};
            try {
                par::for_each_index({1000, 100}, [&](std::size_t, std::size_t) {
                    if (++calls >= 500) jobs.cancel();
                });
            } catch (const sennit::cancelled&) {
                threw = true;
            }
        });
        jobs.join();
        EXPECT_TRUE(threw);
    });
}

} // namespace
