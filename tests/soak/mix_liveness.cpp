// SPDX-License-Identifier: Apache-2.0
// Fibers that keep their threads, in loops and in calls that block, while the runtime is resized,
// the watchdog starts and stops spare workers, timers fire and actors work. Each program has a
// runtime of its own, so that it knows how many fibers may keep their threads at one time.
#include "liveness_programs.hpp"
#include "mix.hpp"
#include "mix_visitors.hpp"
#include "nothing_left.hpp"

#include <sennit/sennit.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <span>
#include <thread>

namespace soak {

namespace mix_liveness {
namespace {

namespace live = ::liveness_programs;
using live::program, live::world;

program any_of(std::span<const program> all, dice& with) {
    return all[static_cast<std::size_t>(with.from(0, static_cast<int>(all.size()) - 1))];
}

// Runs several fibers at once, each of which runs several of the given programs in a row.
bool run_on_own_runtime(dice& with, std::span<const program> from, bool resized) {
    if (with.from(0, 3) != 0) return true; // each makes threads
    const unsigned workers = workers_for_runtime(with, 4);
    const auto spares = static_cast<unsigned>(with.from(1, 5));
    const unsigned most = resized ? workers + static_cast<unsigned>(with.from(1, 3)) : 0;
    sennit::runtime own({.workers = workers,
                         .stack_size = 256 << 10,
                         .max_spare_workers = spares,
                         .max_workers = most,
                         .name = "liveness"});
    world all(own, static_cast<int>(workers + spares));
    all.least_workers = workers;
    all.max_workers = resized ? most : workers;
    {
        std::atomic<bool> over{false};
        visitors hands;
        if (resized)
            hands.thread([&all, &over, mine = dice(with.seed())]() mutable {
                while (!over) {
                    ::liveness_programs::resize(all, mine);
                    std::this_thread::sleep_for(brief(mine) * 20);
                }
            });
        own.run([&] {
            ::liveness_programs::team fibers(all, with);
            for (int i = with.from(1, 5); i > 0; --i)
                fibers.start([&all, from, mine = dice(with.seed())]() mutable {
                    for (int k = mine.from(1, 4); k > 0; --k) any_of(from, mine)(all, mine);
                });
        });
        over = true;
    }
    return all.complete() && nothing_left(own);
}

constexpr program stuck[] = {&live::group,         &live::chain_of_waits, &live::read_from_pipe,
                             &live::wait_on_latch, &live::block_in_mutex, &live::poll_with_timeout,
                             &live::brief_runtime, &live::fork_child};
constexpr program timers[] = {&live::sleepers, &live::group, &live::poll_with_timeout};
constexpr program talkers[] = {&live::talk, &live::bound_fibers, &live::forks, &live::group};
constexpr program actors[] = {&live::ring_of_actors, &live::group_of_actors, &live::group};

bool stuck_workers(dice& with) {
    return run_on_own_runtime(with, stuck, false);
}
bool stuck_workers_that_leave(dice& with) {
    return run_on_own_runtime(with, stuck, true);
}
bool timers_behind_stuck_workers(dice& with) {
    return run_on_own_runtime(with, timers, with.one_in(2));
}
bool fibers_behind_stuck_workers(dice& with) {
    return run_on_own_runtime(with, talkers, with.one_in(2));
}
bool actors_behind_stuck_workers(dice& with) {
    return run_on_own_runtime(with, actors, with.one_in(2));
}
bool everything_with_stuck_workers(dice& with) {
    return run_on_own_runtime(with, live::programs, with.one_in(2));
}

constexpr soak::program some_programs[] = {
    {"stuck workers", &stuck_workers},
    {"stuck workers that leave", &stuck_workers_that_leave},
    {"timers behind stuck workers", &timers_behind_stuck_workers},
    {"fibers behind stuck workers", &fibers_behind_stuck_workers},
    {"actors behind stuck workers", &actors_behind_stuck_workers},
    {"everything with stuck workers", &everything_with_stuck_workers},
};

} // namespace
} // namespace mix_liveness

std::span<const program> liveness_programs() {
    return mix_liveness::some_programs;
}

} // namespace soak
