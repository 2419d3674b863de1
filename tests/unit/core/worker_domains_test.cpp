// SPDX-License-Identifier: Apache-2.0
// Tests the processors and domains of workers, with made-up machines: the order of processors, the
// order in which a thief looks at its victims, and which parked worker is woken.
#include "core/runtime/worker_domains.hpp"

#include "../../support/fake_machine.hpp"
#include "core/policy/tuning.hpp"
#include "core/runtime/runtime_core.hpp"
#include "sennit/checkpoint.hpp"
#include "sennit/detail/base/random.hpp"
#include "sennit/fiber.hpp"
#include "sennit/fork_join.hpp"
#include "sennit/runtime.hpp"
#include "sennit/scope.hpp"
#include "sennit/this_fiber.hpp"
#include "sys/topology.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace {

using sennit::sched::sites_of;
using sennit::sched::worker_domains;
using sennit::sched::worker_site;

// The machine of a test is made up until the end of the test.
class domains : public fake_machine {
protected:
    void SetUp() override {
        fake_machine::SetUp();
        sennit::sched::describe_machine_from(root.string());
    }
    void TearDown() override {
        sennit::sched::describe_machine_from("");
        fake_machine::TearDown();
    }
    void changed() { sennit::sched::describe_machine_from(root.string()); }

    // The processors in the order in which workers are bound to them.
    std::vector<unsigned> order(const std::vector<unsigned>& cpus) {
        auto all = sennit::sys::describe_processors(cpus, root.string());
        sennit::sched::sort_for_workers(all);
        std::vector<unsigned> numbers;
        for (const auto& one : all) numbers.push_back(one.cpu);
        return numbers;
    }
    std::vector<worker_site> sites(const std::vector<unsigned>& cpus) {
        return sites_of(sennit::sys::describe_processors(cpus, root.string()));
    }
    // The number of different domains of the processors.
    std::size_t count(const std::vector<unsigned>& cpus) {
        std::vector<unsigned> found;
        for (const worker_site& one : sites(cpus)) found.push_back(one.domain);
        std::sort(found.begin(), found.end());
        return static_cast<std::size_t>(std::unique(found.begin(), found.end()) - found.begin());
    }
};

// ---- the order of processors

TEST_F(domains, order_without_files_is_ascending) {
    EXPECT_EQ(order({3, 5, 9}), (std::vector<unsigned>{3, 5, 9}));
}

TEST_F(domains, physical_cores_come_before_their_siblings) {
    for (unsigned i = 0; i < 8; ++i)
        siblings(i, std::to_string(i / 2 * 2) + "-" + std::to_string(i / 2 * 2 + 1));
    EXPECT_EQ(order(first_cpus(8)), (std::vector<unsigned>{0, 2, 4, 6, 1, 3, 5, 7}));
    EXPECT_EQ(order({1, 4, 5, 7}), (std::vector<unsigned>{1, 4, 7, 5}))
        << "a sibling outside of the affinity mask does not count";
}

TEST_F(domains, fast_cores_come_before_slow_ones_and_these_before_siblings) {
    for (unsigned i = 0; i < 4; ++i)
        siblings(i, std::to_string(i / 2 * 2) + "-" + std::to_string(i / 2 * 2 + 1));
    for (unsigned i = 4; i < 8; ++i) siblings(i, std::to_string(i));
    file("cpu_core/cpus", "0-3\n");
    file("cpu_atom/cpus", "4-7\n");
    EXPECT_EQ(order(first_cpus(8)), (std::vector<unsigned>{0, 2, 4, 5, 6, 7, 1, 3}));
}

TEST_F(domains, three_kinds_of_cores_are_ordered_by_capacity) {
    for (unsigned i = 0; i < 6; ++i)
        file(cpu(i) + "cpu_capacity", i < 2 ? "300\n" : i < 4 ? "1024\n" : "800\n");
    EXPECT_EQ(order(first_cpus(6)), (std::vector<unsigned>{2, 3, 4, 5, 0, 1}));
}

TEST_F(domains, small_differences_of_frequency_do_not_separate_neighbours) {
    for (unsigned i = 0; i < 4; ++i) {
        caches(i, std::to_string(i), i < 2 ? "0-1" : "2-3");
        file(cpu(i) + "cpufreq/cpuinfo_max_freq", i % 2 == 0 ? "5000000\n" : "5300000\n");
    }
    EXPECT_EQ(order(first_cpus(4)), (std::vector<unsigned>{0, 1, 2, 3}));
}

TEST_F(domains, workers_fill_one_cache_after_the_other) {
    for (unsigned i = 0; i < 8; ++i)
        caches(i, std::to_string(i), i % 2 == 0 ? "0,2,4,6" : "1,3,5,7");
    EXPECT_EQ(order(first_cpus(8)), (std::vector<unsigned>{0, 2, 4, 6, 1, 3, 5, 7}));
}

TEST_F(domains, workers_fill_one_node_after_the_other) {
    for (unsigned i = 0; i < 8; ++i)
        caches(i, std::to_string(i), std::to_string(i % 4) + "," + std::to_string(i % 4 + 4));
    nodes("0-1");
    node(0, "0,2,4,6");
    node(1, "1,3,5,7");
    EXPECT_EQ(order(first_cpus(8)), (std::vector<unsigned>{0, 4, 2, 6, 1, 5, 3, 7}));
}

// ---- domains

TEST_F(domains, machine_without_files_has_one_domain) {
    EXPECT_EQ(count(first_cpus(8)), 1u);
    EXPECT_TRUE(sites({}).empty());
}

TEST_F(domains, each_shared_cache_is_a_domain) {
    equal_groups(1, 64);
    EXPECT_EQ(count(first_cpus(64)), 1u);
    equal_groups(2, 32);
    EXPECT_EQ(count(first_cpus(64)), 2u);
    const auto found = sites(first_cpus(64));
    EXPECT_EQ(found[31], (worker_site{.cpu = 31, .domain = 0}));
    EXPECT_EQ(found[32], (worker_site{.cpu = 32, .domain = 1}));
    EXPECT_EQ(count({1, 2, 3}), 1u) << "three processors of 64";
    EXPECT_EQ(count({1, 40, 41}), 2u);
}

TEST_F(domains, caches_of_four_nodes_are_domains) {
    for (unsigned i = 0; i < 64; ++i)
        large_cache(i, std::to_string(i / 8 * 8) + "-" + std::to_string(i / 8 * 8 + 7));
    nodes("0-3");
    for (unsigned i = 0; i < 4; ++i)
        node(i, std::to_string(16 * i) + "-" + std::to_string(16 * i + 15));
    EXPECT_EQ(count(first_cpus(64)), 8u);
    EXPECT_EQ(sites(first_cpus(64))[63], (worker_site{.cpu = 63, .domain = 7}));
}

TEST_F(domains, nodes_are_domains_where_caches_are_not_known) {
    equal_groups(4, 4);
    for (unsigned i = 0; i < 16; ++i)
        std::filesystem::remove_all(root / "sys/devices" / (cpu(i) + "cache"));
    EXPECT_EQ(count(first_cpus(16)), 4u);
}

TEST_F(domains, cache_that_is_unknown_of_one_processor_counts_for_none) {
    equal_groups(4, 4);
    std::filesystem::remove_all(root / "sys/devices" / (cpu(5) + "cache"));
    EXPECT_EQ(count(first_cpus(16)), 4u) << "the list of its neighbours names it";
    nodes("");
    for (unsigned i = 4; i < 8; ++i) file(cpu(i) + "cache/index3/shared_cpu_list", "garbage");
    EXPECT_EQ(count(first_cpus(16)), 1u);
}

TEST_F(domains, virtual_machine_with_a_cache_for_each_processor_has_one_domain) {
    for (unsigned i = 0; i < 4; ++i) caches(i, std::to_string(i), std::to_string(i));
    EXPECT_EQ(count(first_cpus(4)), 1u);
    nodes("0-1");
    node(0, "0-1");
    node(1, "2-3");
    EXPECT_EQ(count(first_cpus(4)), 2u) << "its nodes are known";
}

TEST_F(domains, holes_in_the_list_of_processors_separate_no_domain) {
    for (const unsigned i : {0u, 2u, 8u, 10u}) caches(i, std::to_string(i), i < 8 ? "0,2" : "8,10");
    const auto found = sites({0, 2, 8, 10});
    EXPECT_EQ(found[1].domain, 0u);
    EXPECT_EQ(found[2].domain, 1u);
    EXPECT_EQ(found[3].domain, 1u);
}

TEST_F(domains, workers_beyond_the_processors_begin_again) {
    equal_groups(2, 2);
    const worker_domains found(sites(first_cpus(4)), 7);
    EXPECT_TRUE(found.several());
    EXPECT_EQ(found.cpu_of(6), 2u);
    EXPECT_TRUE(found.near(0, 5));
    EXPECT_FALSE(found.near(1, 6));
    for (unsigned i = 0; i < 7; ++i) EXPECT_EQ(found.near_to(4).contains(i), i % 4 < 2) << i;
}

TEST_F(domains, few_workers_of_many_processors_have_one_domain) {
    equal_groups(2, 32);
    const worker_domains few(sites(first_cpus(64)), 32);
    EXPECT_FALSE(few.several());
    EXPECT_TRUE(worker_domains(sites(first_cpus(64)), 33).several());
}

// ---- the processors of a runtime

TEST_F(domains, unbound_runtime_reads_nothing_and_has_one_domain) {
    equal_groups(2, 1);
    const worker_domains found = sennit::sched::domains_for({.max_workers = 4}, 4);
    EXPECT_FALSE(found.binds());
    EXPECT_FALSE(found.several());
}

TEST_F(domains, given_processors_keep_their_order) {
    equal_groups(2, 2);
    const std::vector<unsigned> given{3, 0, 2, 1};
    const auto found = sennit::sched::domains_for({.processors = given, .max_workers = 4}, 4);
    for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(found.cpu_of(i), given[i]);
    EXPECT_TRUE(found.near(0, 2));
    EXPECT_FALSE(found.near(0, 1));
}

TEST_F(domains, switch_turns_domains_off) {
    equal_groups(2, 2);
    const auto found = sennit::sched::domains_for(
        {.processors = {0, 1, 2, 3}, .use_topology = false, .max_workers = 4}, 4);
    EXPECT_TRUE(found.binds());
    EXPECT_FALSE(found.several());
}

TEST_F(domains, bound_workers_begin_with_the_fastest_usable_processor) {
    const std::vector<unsigned> usable = sennit::sys::affinity_cpus();
    ASSERT_FALSE(usable.empty());
    for (const unsigned one : usable)
        file(cpu(one) + "cpu_capacity", one == usable.back() ? "1024\n" : "512\n");
    const auto first = [](const sennit::runtime_options& options) {
        return sennit::sched::domains_for(options, 8).cpu_of(0);
    };
    EXPECT_EQ(first({.pin = true, .max_workers = 2}), usable.back());
    EXPECT_EQ(first({.pin = true, .use_topology = false, .max_workers = 2}), usable.front());
    EXPECT_EQ(first({.pin = true, .max_workers = 1}), usable.front())
        << "a runtime with one worker reads nothing";
}

TEST_F(domains, machine_is_read_once) {
    equal_groups(2, 2);
    const auto several = [] {
        return sennit::sched::domains_for({.processors = {0, 1, 2, 3}, .max_workers = 4}, 4)
            .several();
    };
    EXPECT_TRUE(several());
    std::filesystem::remove_all(root);
    EXPECT_TRUE(several());
    changed();
    EXPECT_FALSE(several());
}

// ---- the order of victims

TEST_F(domains, thief_looks_at_each_other_worker_once) {
    equal_groups(4, 4);
    const worker_domains found(sites(first_cpus(16)), 16);
    for (unsigned workers : {9u, 16u})
        for (unsigned me = 0; me < workers; ++me)
            for (unsigned start = 0; start < workers; ++start)
                for (const bool far_first : {false, true}) {
                    std::vector<unsigned> seen;
                    EXPECT_FALSE(
                        found.visit_from(me, workers, start, far_first, [&](unsigned victim) {
                            seen.push_back(victim);
                            return false;
                        }));
                    const auto is_near = [&](unsigned other) { return found.near(me, other); };
                    EXPECT_TRUE(far_first ? std::is_partitioned(seen.rbegin(), seen.rend(), is_near)
                                          : std::is_partitioned(seen.begin(), seen.end(), is_near));
                    std::sort(seen.begin(), seen.end());
                    std::vector<unsigned> others = first_cpus(workers);
                    others.erase(others.begin() + me);
                    EXPECT_EQ(seen, others);
                }
}

TEST_F(domains, each_victim_comes_first_in_turn) {
    equal_groups(2, 4);
    const worker_domains found(sites(first_cpus(8)), 8);
    std::vector<unsigned> first(8);
    for (unsigned start = 0; start < 8; ++start)
        for (const bool far_first : {false, true})
            found.visit_from(1, 8, start, far_first,
                             [&](unsigned victim) { return ++first[victim]; });
    for (unsigned victim = 0; victim < 8; ++victim)
        EXPECT_EQ(first[victim] != 0, victim != 1) << victim;
}

// The standard deviation of the number of near victims is 94. The seed is fixed.
TEST_F(domains, near_victim_comes_first_seven_times_of_eight) {
    equal_groups(4, 4);
    const worker_domains found(sites(first_cpus(16)), 16);
    sennit::base::random random(1);
    constexpr int rounds = 80'000;
    std::vector<int> first(16);
    for (int i = 0; i < rounds; ++i)
        found.visit(5, 16, random, sennit::sched::tuning::far_first_one_in,
                    [&](unsigned victim) { return ++first[victim]; });
    const int near = first[4] + first[6] + first[7];
    EXPECT_NEAR(near, rounds * 7 / 8, rounds / 100);
    for (unsigned victim = 0; victim < 16; ++victim)
        EXPECT_EQ(first[victim] > rounds / 200, victim != 5) << victim;
}

// A runtime of four workers in two domains, on the processors that there are. The second domain's
// processor need not exist: a worker that cannot be bound is as far.
class domains_of_runtime : public domains {
protected:
    static constexpr unsigned workers = 4;
    static constexpr unsigned there = 0, elsewhere = 1;
    void SetUp() override {
        domains::SetUp();
        equal_groups(2, 1);
        changed();
    }
    // A second list entry makes each processor a domain of two workers.
    const sennit::runtime_options options{.workers = workers,
                                          .processors = {there, there, elsewhere, elsewhere},
                                          .max_spare_workers = 0};
};

// Forks until a thief has run a fork, `rounds` times.
void fork_and_wait(int rounds) {
    for (int i = 0; i < rounds; ++i) {
        std::atomic<bool> begun{false};
        sennit::fork_join(
            [&] {
                while (!begun) std::this_thread::yield();
            },
            [&] { begun = true; });
    }
}

TEST_F(domains_of_runtime, steals_are_counted_by_distance) {
    sennit::runtime runtime(options);
    const auto near_and_far = [&] {
        const sennit::runtime_metrics seen = runtime.metrics();
        EXPECT_LE(seen.far_steals, seen.steals);
        return seen.far_steals != 0 && seen.steals > seen.far_steals;
    };
    while (!near_and_far()) runtime.run([] { fork_and_wait(10); });
}

TEST_F(domains_of_runtime, runtime_with_one_domain_has_no_far_steals) {
    sennit::runtime_options one = options;
    one.use_topology = false;
    sennit::runtime runtime(one);
    while (runtime.metrics().steals < 10) runtime.run([] { fork_and_wait(10); });
    EXPECT_EQ(runtime.metrics().far_steals, 0u);
}

TEST_F(domains_of_runtime, variable_precedes_option) {
    const auto several = [](const sennit::runtime_options& given) {
        sennit::runtime runtime(given);
        return runtime.run([] { return sennit::sched::current_runtime()->domains().several(); });
    };
    EXPECT_TRUE(several(options));
    ASSERT_EQ(::setenv("SENNIT_TOPOLOGY", "0", 1), 0);
    EXPECT_FALSE(several(options));
    ASSERT_EQ(::setenv("SENNIT_TOPOLOGY", "1", 1), 0);
    sennit::runtime_options off = options;
    off.use_topology = false;
    EXPECT_TRUE(several(off));
    ASSERT_EQ(::unsetenv("SENNIT_TOPOLOGY"), 0);
}

// Two owners of many public forks, one near the only thief and one far, count the forks that the
// thief takes.
struct near_and_far_owner {
    static constexpr unsigned thief = 0, far = 1, near = 2, other = 3;
    static constexpr int enough = 200;
    std::atomic<bool> end{false};
    std::atomic<unsigned> begun{0}, ready{0};
    std::array<int, 4> taken{}; // The thief's, until the end.

    // Waits until each worker runs its fiber. An idle worker beside the thief would take a fork of
    // the first owner, and wait there for forks of the other owner, which it keeps from beginning.
    void begin() {
        ++begun;
        while (begun != 4) std::this_thread::yield();
    }
    static void wait_for_public_forks_of(unsigned owner) {
        sennit::sched::worker& me = *sennit::sched::this_worker();
        sennit::sched::worker& asked = me.runtime().worker_at(owner);
        while (sennit::sched::fork_range::of(asked.running()->forks.load()).empty()) {
            asked.request_share(me);
            std::this_thread::yield();
        }
    }
    void run_child_of(unsigned owner) {
        if (end) return;
        for (const unsigned one : {far, near}) wait_for_public_forks_of(one);
        ++taken[owner];
        if (taken[far] + taken[near] == enough) end = true;
    }
    // Only the first 64 children of a scope are forks of its own context.
    void own(unsigned owner, int more_scopes = 12) {
        sennit::scope children;
        for (int i = 0; i < 60; ++i) children.spawn([this, owner] { run_child_of(owner); });
        if (more_scopes != 0)
            own(owner, more_scopes - 1);
        else
            wait_for_end();
        children.join();
    }
    void wait_for_end() {
        ++ready;
        while (!end) {
            sennit::checkpoint();
            std::this_thread::yield();
        }
    }
};

// The thief's random start alone would take a quarter from the near owner.
TEST_F(domains_of_runtime, thief_usually_takes_forks_of_near_owner) {
    using all = near_and_far_owner;
    sennit::runtime_options crossed = options;
    crossed.processors = {there, elsewhere, there, elsewhere};
    sennit::runtime runtime(crossed);
    all test;
    std::vector<sennit::fiber> fibers;
    fibers.emplace_back(sennit::fiber_attributes{.runtime = &runtime, .worker = all::thief}, [&] {
        test.begin();
        while (test.ready != 2) std::this_thread::yield();
    });
    fibers.emplace_back(sennit::fiber_attributes{.runtime = &runtime, .worker = all::other}, [&] {
        test.begin();
        while (!test.end) std::this_thread::yield();
    });
    for (const unsigned owner : {all::far, all::near})
        fibers.emplace_back(sennit::fiber_attributes{.runtime = &runtime, .worker = owner},
                            [&test, owner] {
                                test.begin();
                                test.own(owner);
                            });
    for (auto& one : fibers) one.join();
    EXPECT_GT(test.taken[all::near], all::enough * 3 / 5);
    EXPECT_GT(test.taken[all::far], 0);
}

// Both workers of one domain are busy. Only far workers can begin the forks.
TEST_F(domains_of_runtime, work_leaves_a_domain_whose_workers_are_busy) {
    sennit::runtime runtime(options);
    std::atomic<bool> busy{false}, end{false};
    sennit::fiber beside({.runtime = &runtime, .worker = 1}, [&] {
        busy = true;
        while (!end) std::this_thread::yield();
    });
    while (!busy) std::this_thread::yield();
    sennit::fiber({.runtime = &runtime, .worker = 0}, [] { fork_and_wait(20); }).join();
    end = true;
    beside.join();
    EXPECT_GE(runtime.metrics().far_steals, 20u);
}

// Waits until these workers are parked, and wakes one. Returns the worker that was woken.
unsigned woken_by_this_worker(const std::vector<unsigned>& parked) {
    sennit::sched::runtime_core& here = *sennit::sched::current_runtime();
    for (const unsigned one : parked)
        while (!here.idle().is_set(one)) std::this_thread::yield();
    std::vector<std::uint64_t> before;
    for (unsigned i = 0; i < here.worker_count(); ++i)
        before.push_back(here.worker_at(i).idling().wakes());
    here.wake_searcher();
    for (;;)
        for (unsigned i = 0; i < here.worker_count(); ++i)
            if (here.worker_at(i).idling().wakes() != before[i]) return i;
}

TEST_F(domains_of_runtime, near_worker_is_woken_first) {
    sennit::runtime runtime(options);
    for (unsigned me = 0; me < workers; ++me)
        for (int round = 0; round < 20; ++round) {
            sennit::fiber waker({.runtime = &runtime, .worker = me}, [&] {
                std::vector<unsigned> others = first_cpus(workers);
                others.erase(others.begin() + me);
                const unsigned neighbour = me ^ 1;
                EXPECT_EQ(woken_by_this_worker(others), neighbour) << me;
            });
            waker.join();
        }
}

TEST_F(domains_of_runtime, far_worker_is_woken_if_no_near_one_is_parked) {
    sennit::runtime runtime(options);
    std::atomic<bool> busy{false}, end{false};
    sennit::fiber beside({.runtime = &runtime, .worker = 3}, [&] {
        busy = true;
        while (!end) std::this_thread::yield();
    });
    while (!busy) std::this_thread::yield();
    for (int round = 0; round < 20; ++round)
        sennit::fiber({.runtime = &runtime, .worker = 2}, [] {
            EXPECT_LT(woken_by_this_worker({0, 1}), 2u);
        }).join();
    end = true;
    beside.join();
}

// ---- the set of near workers in the idle map

TEST(idle_map, worker_of_set_is_taken_if_one_is_parked) {
    sennit::sched::idle_map map;
    sennit::sched::worker_set wanted;
    for (const unsigned one : {1u, 70u, 200u}) wanted.add(one);
    constexpr unsigned none = sennit::sched::idle_map::none;
    for (const unsigned one : {0u, 70u, 71u, 200u}) map.set(one);
    EXPECT_EQ(map.take_any_of(wanted, 256, none), 70u);
    EXPECT_FALSE(map.is_set(70));
    EXPECT_EQ(map.take_any_of(wanted, 128, none), none) << "there are 128 workers";
    EXPECT_EQ(map.take_any_of(wanted, 256, 200), none) << "this one is left for later";
    EXPECT_EQ(map.take_any_of(wanted, 256, none), 200u);
    EXPECT_EQ(map.take_any_of(wanted, 256, none), none);
    EXPECT_TRUE(map.is_set(0) && map.is_set(71));
}

} // namespace
