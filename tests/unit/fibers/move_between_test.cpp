// SPDX-License-Identifier: Apache-2.0
// Tests fibers that migrate between runtimes that end, that have different policies and orders, and
// that are dumped.
#include "race_rounds.hpp"
#include "runtime_here.hpp"

#include <sennit/event.hpp>
#include <sennit/fiber.hpp>
#include <sennit/mutex.hpp>
#include <sennit/nursery.hpp>
#include <sennit/this_fiber.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using sennit::this_fiber::migrate_to;

// ---- runtimes that end

TEST(migratable_fibers, fiber_outlives_runtime_that_it_left) {
    sennit::runtime there({.workers = 1});
    for (int round = 0; round < 50; ++round) {
        std::optional<sennit::runtime> first;
        first.emplace(sennit::runtime_options{.workers = 2});
        sennit::event left, gone;
        sennit::mutex held;
        sennit::fiber one({.name = "heir", .runtime = &*first, .migratable = true}, [&] {
            const std::lock_guard guard(held);
            sennit::nursery family;
            migrate_to(there);
            left.set();
            gone.wait();
            family.start([] {});
            family.join();
            sennit::fiber([] { sennit::this_fiber::yield(); }).join();
            EXPECT_EQ(sennit::this_fiber::name(), "heir");
        });
        left.wait();
        first.reset();
        gone.set();
        one.join();
    }
}

// The worker that the fiber left may still be posting it to the new runtime.
TEST(migratable_fibers, new_runtime_is_destroyed_immediately_after_join) {
    sennit::runtime here({.workers = 2});
    for (int round = 0; round < 200; ++round) {
        sennit::runtime there({.workers = 1});
        sennit::fiber one({.runtime = &here, .migratable = true}, [&] { migrate_to(there); });
        one.join();
    }
}

TEST(migratable_fibers, destructor_of_new_runtime_ends_fiber) {
    sennit::runtime here({.workers = 1});
    std::atomic<bool> ended{false};
    sennit::event arrived;
    {
        sennit::runtime there({.workers = 1});
        sennit::fiber({.runtime = &here, .migratable = true}, [&] {
            migrate_to(there);
            arrived.set();
            for (int i = 0; i < 100; ++i) sennit::this_fiber::yield();
            ended = true;
        }).detach();
        arrived.wait();
    }
    EXPECT_TRUE(ended);
}

// ---- policies and orders

TEST(migratable_fibers, fibers_migrate_between_all_policies) {
    std::vector<std::unique_ptr<sennit::runtime>> all;
    for (const auto policy : {sennit::scheduling::round_robin, sennit::scheduling::stealing,
                              sennit::scheduling::sharing, sennit::scheduling::round_robin})
        all.push_back(std::make_unique<sennit::runtime>(
            sennit::runtime_options{.workers = all.empty() ? 3u : 1u, .policy = policy}));
    all.push_back(std::make_unique<sennit::runtime>(sennit::runtime_options{
        .workers = 2, .order = sennit::make_order<sennit::priority_order>}));
    std::vector<sennit::fiber> fibers;
    for (std::size_t f = 0; f < 10; ++f)
        fibers.emplace_back(
            sennit::fiber_attributes{.runtime = all[f % all.size()].get(), .migratable = true},
            [&, f] {
                for (std::size_t i = 0; i < 50; ++i) {
                    sennit::runtime& next = *all[(f * 3 + i * 7) % all.size()];
                    migrate_to(next);
                    EXPECT_TRUE(is_in(next));
                    sennit::this_fiber::yield();
                    EXPECT_TRUE(is_in(next));
                }
            });
    for (auto& one : fibers) one.join();
}

TEST(migratable_fibers, arriving_fibers_run_in_order_of_new_runtime) {
    sennit::runtime here({.workers = 1});
    sennit::runtime there({.workers = 1, .order = sennit::make_order<sennit::priority_order>});
    std::string order;
    there.run([&] { // The only worker is occupied until all fibers have arrived.
        std::atomic<int> leaving{0};
        std::vector<sennit::fiber> all;
        const auto goes = [&](char who) {
            return [&, who] {
                ++leaving;
                migrate_to(there);
                order += who;
            };
        };
        all.emplace_back(sennit::fiber_attributes{.runtime = &here, .migratable = true},
                         goes('c')); // Its priority counts as 0.
        all.emplace_back(
            sennit::fiber_attributes{.runtime = &here, .priority = 3, .migratable = true},
            goes('b'));
        all.emplace_back(
            sennit::fiber_attributes{.runtime = &here, .priority = -3, .migratable = true},
            goes('d'));
        all.emplace_back(sennit::fiber_attributes{.runtime = &here, .migratable = true}, goes('a'));
        all.back().set_priority(5);
        while (leaving != 4) std::this_thread::yield();
        // The only worker of `here` has posted the last fiber before it runs this function.
        std::thread([&] { here.run([] {}); }).join();
        for (auto& one : all) one.join();
    });
    EXPECT_EQ(order, "abcd");
}

TEST(migratable_fibers, priority_changes_during_migration) {
    const auto by_priority = [] {
        return sennit::runtime_options{.workers = 1,
                                       .order = sennit::make_order<sennit::priority_order>};
    };
    sennit::runtime here(by_priority()), there(by_priority()), plain({.workers = 1});
    std::atomic<bool> over{false};
    sennit::fiber one({.runtime = &here, .priority = 1, .migratable = true}, [&] {
        while (!over) {
            migrate_to(there);
            sennit::this_fiber::set_priority(sennit::this_fiber::priority() + 1);
            migrate_to(plain);
            migrate_to(here);
        }
    });
    for (int i = 0; i < race_rounds / 10; ++i) {
        one.set_priority(i % 8);
        EXPECT_GE(one.priority(), 0);
    }
    over = true;
    one.join();
}

// ---- reports

TEST(migratable_fibers, dump_shows_migrated_fiber_as_ready) {
    sennit::runtime here({.workers = 1}), there({.workers = 1});
    std::atomic<bool> taken{false}, over{false};
    sennit::fiber busy({.runtime = &there}, [&] {
        taken = true;
        while (!over) std::this_thread::yield();
    });
    while (!taken) std::this_thread::yield();
    sennit::fiber one({.name = "guest", .runtime = &here, .migratable = true},
                      [&] { migrate_to(there); });
    std::string told;
    while (told.find("fiber") == std::string::npos || told.find("'guest'") == std::string::npos) {
        std::ostringstream text;
        there.dump(text);
        told = text.str();
    }
    over = true;
    one.join();
    busy.join();
    const auto at = told.find("'guest'");
    EXPECT_EQ(told.substr(at, told.find('\n', at) - at), "'guest' [ready]") << told;
}

} // namespace
