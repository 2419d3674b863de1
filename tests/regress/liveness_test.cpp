// SPDX-License-Identifier: Apache-2.0
// The smallest programs that need the liveness promises of the scheduler: every ready fiber runs,
// every new fiber begins, a worker that makes progress takes over the work behind a worker that
// does not, and a worker that leaves takes nothing with it.
//
// No test measures time. A broken promise hangs the test, and ctest's time limit ends the hang.
#include "race_rounds.hpp"

#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <string>
#include <thread>
#include <vector>

namespace liveness {
namespace {

using namespace std::chrono_literals;

// How often a group of fibers meets, and how often a worker is sent away. A thread that spins loses
// its processor only at the end of its time slice, so groups that spin meet less often.
#ifdef SENNIT_SLOW_TESTS
constexpr int phases = 30, yielding_phases = 10, spinning_phases = 4, rounds = 4;
#else
constexpr int phases = 100, yielding_phases = 30, spinning_phases = 15, rounds = 10;
#endif

// The default of runtime_options::max_spare_workers: the spare workers that the watchdog may start.
const unsigned spare_workers = sennit::runtime_options{}.max_spare_workers;

std::string name_of(const testing::TestParamInfo<unsigned>& workers) {
    return std::string(1, 'w').append(std::to_string(workers.param));
}
class liveness_with_workers : public testing::TestWithParam<unsigned> {
protected:
    static unsigned workers() { return GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(, liveness_with_workers, testing::Values(1u, 2u, 3u, 8u), name_of);

void join_all(std::vector<sennit::fiber>& fibers) {
    for (auto& each : fibers) each.join();
}

// ---- groups whose members wait for each other without leaving their threads ---------------------

// How a member waits until the whole group has begun.
struct spinning {
    static constexpr int times = spinning_phases;
    explicit spinning(unsigned members) : members_(members) {}
    void meet() {
        ++begun_;
        while (begun_ < members_) {
        }
    }

private:
    const unsigned members_;
    std::atomic<unsigned> begun_{0};
};
struct yielding_thread { // lends its processor to other threads, but not its worker to other fibers
    static constexpr int times = yielding_phases;
    explicit yielding_thread(unsigned members) : members_(members) {}
    void meet() {
        ++begun_;
        while (begun_ < members_) std::this_thread::yield();
    }

private:
    const unsigned members_;
    std::atomic<unsigned> begun_{0};
};
struct blocking_thread {
    static constexpr int times = phases;
    explicit blocking_thread(unsigned members) : all_begun_(members) {}
    void meet() { all_begun_.arrive_and_wait(); }

private:
    std::latch all_begun_;
};

// Calls `phase(members)` for groups of two members up to as many as there may be threads.
template <class F>
void for_each_phase(unsigned workers, int times, F phase) {
    const unsigned most = workers + spare_workers;
    for (int i = 0; i < times; ++i) phase(2 + static_cast<unsigned>(i) % (most - 1));
}

template <class Meeting>
void main_fiber_starts_groups(unsigned workers) {
    sennit::runtime runtime({.workers = workers});
    runtime.run([&] {
        for_each_phase(workers, Meeting::times, [](unsigned members) {
            Meeting meeting(members);
            std::vector<sennit::fiber> group;
            const auto body = [&meeting] { meeting.meet(); };
            for (unsigned i = 0; i < members; ++i) group.emplace_back(body);
            join_all(group);
        });
    });
}
TEST_P(liveness_with_workers, each_fiber_of_a_spinning_group_begins) {
    main_fiber_starts_groups<spinning>(workers());
}
TEST_P(liveness_with_workers, each_fiber_of_a_group_that_yields_its_threads_begins) {
    main_fiber_starts_groups<yielding_thread>(workers());
}
TEST_P(liveness_with_workers, each_fiber_of_a_group_that_blocks_its_threads_begins) {
    main_fiber_starts_groups<blocking_thread>(workers());
}

template <class Meeting>
void outside_thread_starts_groups(unsigned workers) {
    sennit::runtime runtime({.workers = workers});
    for_each_phase(workers, Meeting::times, [&runtime](unsigned members) {
        Meeting meeting(members);
        std::vector<sennit::fiber> group;
        const sennit::fiber_attributes here{.runtime = &runtime};
        const auto body = [&meeting] { meeting.meet(); };
        for (unsigned i = 0; i < members; ++i) group.emplace_back(here, body);
        join_all(group);
    });
}
TEST_P(liveness_with_workers, each_fiber_of_a_spinning_group_from_outside_begins) {
    outside_thread_starts_groups<yielding_thread>(workers());
}
TEST_P(liveness_with_workers, each_fiber_of_a_blocking_group_from_outside_begins) {
    outside_thread_starts_groups<blocking_thread>(workers());
}

// Each member starts the next member and waits then, so each new fiber lies behind its own maker.
template <class Meeting>
void start_member(Meeting& meeting, unsigned left) {
    sennit::fiber next;
    if (left > 1) next = sennit::fiber([&meeting, left] { start_member(meeting, left - 1); });
    meeting.meet();
    if (left > 1) next.join();
}
template <class Meeting>
void members_start_each_other(unsigned workers) {
    sennit::runtime runtime({.workers = workers});
    runtime.run([&] {
        for_each_phase(workers, Meeting::times, [](unsigned members) {
            Meeting meeting(members);
            start_member(meeting, members);
        });
    });
}
TEST_P(liveness_with_workers, each_fiber_begins_behind_its_spinning_maker) {
    members_start_each_other<yielding_thread>(workers());
}
TEST_P(liveness_with_workers, each_fiber_begins_behind_its_blocking_maker) {
    members_start_each_other<blocking_thread>(workers());
}

// Each member but the last waits until the next member has begun. Each even member starts the odd
// member before it, so a member waits for a fiber that a third fiber has yet to start. The main
// fiber starts the even members upwards, then downwards, as the order in which they run may differ.
void run_chain(unsigned members, bool upwards) {
    std::vector<std::atomic<bool>> begun(members);
    std::vector<sennit::fiber> even, odd(members);
    sennit::latch ended(members); // a join would run the joined fiber first
    const auto wait_for_next = [&](unsigned i) {
        begun[i] = true;
        while (i + 1 < members && !begun[i + 1]) std::this_thread::yield();
        ended.count_down();
    };
    const unsigned evens = members / 2 + 1; // the last fiber may be no member, and only start one
    for (unsigned k = 0; k < evens; ++k)
        even.emplace_back([&, i = 2 * (upwards ? k : evens - 1 - k)] {
            if (i > 0) odd[i - 1] = sennit::fiber([&wait_for_next, i] { wait_for_next(i - 1); });
            if (i < members) wait_for_next(i);
        });
    ended.wait();
    join_all(even);
    for (auto& each : odd)
        if (each.joinable()) each.join();
}
TEST_P(liveness_with_workers, each_fiber_of_a_chain_of_waits_begins) {
    sennit::runtime runtime({.workers = workers()});
    runtime.run([&] {
        for_each_phase(workers(), phases, [](unsigned members) {
            run_chain(members, true);
            run_chain(members, false);
        });
    });
}

// ---- handlers of actors that wait for each other without leaving their threads ------------------

struct begin {};
template <class Meeting>
class member : public sennit::actor<member<Meeting>, begin> {
public:
    explicit member(Meeting& meeting) : meeting_(meeting) {}
    void on(begin) {
        meeting_.meet();
        this->stop();
    }

private:
    Meeting& meeting_;
};

template <class Meeting>
void actors_meet(unsigned workers) {
    sennit::runtime runtime({.workers = workers});
    runtime.run([&] {
        for_each_phase(workers, Meeting::times, [](unsigned members) {
            Meeting meeting(members);
            sennit::actor_group group;
            using actor = member<Meeting>;
            for (unsigned i = 0; i < members; ++i) group.spawn<actor>(meeting).tell(begin{});
            group.join();
        });
    });
}
TEST_P(liveness_with_workers, each_actor_of_a_spinning_group_handles_its_message) {
    actors_meet<yielding_thread>(workers());
}
TEST_P(liveness_with_workers, each_actor_of_a_blocking_group_handles_its_message) {
    actors_meet<blocking_thread>(workers());
}

// ---- workers that leave in the middle of a fiber ------------------------------------------------

void wait_for(const std::atomic<bool>& flag) {
    while (!flag) std::this_thread::yield();
}

// A fiber blocks the only permanent worker until `open` is called. A second fiber runs on a worker
// that has been sent away meanwhile.
class dismissed_worker {
public:
    // Calls `body(*this)` on the worker that is sent away, after `before()` and the resize.
    template <class F, class B>
    void run(F body, B before) {
        runtime_.resize(2);
        std::atomic<bool> stays_blocked{false}, begun{false}, resized{false};
        sennit::fiber stays({.runtime = &runtime_, .worker = 0u}, [&] {
            stays_blocked = true;
            opened_.wait();
        });
        wait_for(stays_blocked);
        sennit::fiber leaves({.runtime = &runtime_}, [&] {
            before();
            begun = true;
            wait_for(resized);
            body(*this);
        });
        wait_for(begun);
        runtime_.resize(1);
        resized = true;
        leaves.join();
        stays.join();
    }
    template <class F>
    void run(F body) {
        run(body, [] {});
    }
    void open() { opened_.count_down(); }
    void wait() { opened_.wait(); }
    void spin() {
        while (!opened_.try_wait()) {
        }
    }
    sennit::runtime& runtime() { return runtime_; }

private:
    sennit::runtime runtime_{{.workers = 1, .max_workers = 2}};
    std::latch opened_{1};
};

TEST(liveness, fiber_begins_that_a_dismissed_worker_starts_and_blocks) {
    for (int i = 0; i < rounds; ++i) {
        dismissed_worker all;
        all.run([](dismissed_worker& self) {
            sennit::fiber opener([&self] { self.open(); });
            self.wait();
            opener.join();
        });
    }
}
TEST(liveness, fiber_begins_that_a_dismissed_worker_starts_and_spins) {
    for (int i = 0; i < rounds; ++i) {
        dismissed_worker all;
        all.run([](dismissed_worker& self) {
            sennit::fiber opener([&self] { self.open(); });
            self.spin();
            opener.join();
        });
    }
}
// The worker leaves with the fiber already in its queue.
TEST(liveness, fiber_begins_that_waits_on_a_worker_when_it_is_dismissed) {
    for (int i = 0; i < rounds; ++i) {
        sennit::fiber opener;
        dismissed_worker all;
        all.run(
            [&opener](dismissed_worker& self) {
                self.wait();
                opener.join();
            },
            [&] { opener = sennit::fiber([&all] { all.open(); }); });
    }
}
TEST(liveness, fiber_continues_that_a_dismissed_worker_wakes_and_blocks) {
    for (int i = 0; i < rounds; ++i) {
        sennit::event wake;
        sennit::latch waits(1);
        sennit::fiber sleeper;
        dismissed_worker all;
        all.run(
            [&](dismissed_worker& self) {
                wake.set();
                self.wait();
                sleeper.join();
            },
            [&] {
                sleeper = sennit::fiber([&] {
                    waits.count_down();
                    wake.wait();
                    all.open();
                });
                waits.wait();
            });
    }
}
TEST(liveness, timer_fires_while_a_dismissed_worker_blocks) {
    for (int i = 0; i < rounds; ++i) {
        sennit::latch sleeps(1);
        sennit::fiber sleeper;
        dismissed_worker all;
        all.run(
            [&](dismissed_worker& self) {
                self.wait();
                sleeper.join();
            },
            [&] {
                sleeper = sennit::fiber([&] {
                    sleeps.count_down();
                    sennit::this_fiber::sleep_for(1ms);
                    all.open();
                });
                sleeps.wait();
            });
    }
}

struct open_it {};
class opener : public sennit::actor<opener, open_it> {
public:
    explicit opener(dismissed_worker& all) : all_(all) {}
    void on(open_it) {
        if (told_++ > 0) all_.open();
    }

private:
    dismissed_worker& all_;
    int told_ = 0;
};
// The mailbox had its last turn on the worker that leaves.
TEST(liveness, actor_handles_a_message_that_a_dismissed_worker_sends_and_blocks) {
    for (int i = 0; i < rounds; ++i) {
        dismissed_worker all;
        sennit::actor_group actors(all.runtime());
        const auto target = actors.spawn<opener>(all);
        all.run(
            [&](dismissed_worker& self) {
                target.tell(open_it{});
                self.wait();
            },
            [&] { target.tell(open_it{}); });
    }
}
TEST(liveness, actor_handles_a_message_from_outside_behind_a_dismissed_worker) {
    for (int i = 0; i < rounds; ++i) {
        std::atomic<bool> blocked{false};
        dismissed_worker all;
        sennit::actor_group actors(all.runtime());
        const auto target = actors.spawn<opener>(all);
        std::thread outside([&] {
            wait_for(blocked);
            target.tell(open_it{});
        });
        all.run(
            [&](dismissed_worker& self) {
                blocked = true;
                self.wait();
            },
            [&] { target.tell(open_it{}); });
        outside.join();
    }
}

// The worker that was sent away is hired again before it has left the fiber.
TEST(liveness, fiber_begins_that_a_worker_starts_between_dismissal_and_return) {
    for (int i = 0; i < rounds; ++i) {
        dismissed_worker all;
        all.run([](dismissed_worker& self) {
            sennit::fiber opener([&self] { self.open(); });
            self.runtime().resize(2);
            self.wait();
            opener.join();
        });
    }
}

// ---- workers that leave a runtime without a watchdog, whose remaining worker is idle ------------

// Calls `body` on the worker that `resize` sends away: `before` the resize, and `after` it.
template <class B, class A>
void run_on_dismissed_worker(sennit::runtime& runtime, B before, A after) {
    runtime.resize(2);
    std::atomic<bool> occupied{false}, begun{false}, resized{false};
    sennit::fiber stays({.runtime = &runtime, .worker = 0u}, [&] {
        occupied = true;
        wait_for(begun);
    });
    wait_for(occupied);
    sennit::fiber leaves({.runtime = &runtime}, [&] {
        before();
        begun = true;
        wait_for(resized);
        after();
    });
    wait_for(begun);
    runtime.resize(1);
    resized = true;
    leaves.join();
    stays.join();
}

TEST(liveness, remaining_worker_runs_a_fiber_behind_a_dismissed_worker) {
    sennit::runtime runtime({.workers = 1, .max_spare_workers = 0, .max_workers = 2});
    for (int i = 0; i < rounds; ++i) {
        std::latch opened(1);
        sennit::fiber opener;
        run_on_dismissed_worker(
            runtime, [] {},
            [&] {
                opener = sennit::fiber([&opened] { opened.count_down(); });
                opened.wait();
            });
        opener.join();
    }
}

struct count_it {
    using reply = int;
};
class counter : public sennit::actor<counter, count_it> {
public:
    int on(count_it) { return ++count_; }

private:
    int count_ = 0;
};
// The actor handles its first message on the worker that leaves. That worker then spins until the
// actor has handled a message from outside.
TEST(liveness, remaining_worker_serves_an_actor_of_a_dismissed_worker) {
    sennit::runtime runtime({.workers = 1, .max_spare_workers = 0, .max_workers = 2});
    for (int i = 0; i < rounds; ++i) {
        sennit::actor_group actors(runtime);
        const auto target = actors.spawn<counter>();
        std::atomic<bool> handled{false};
        std::thread outside;
        run_on_dismissed_worker(
            runtime, [&target] { target.ask(count_it{}).get(); },
            [&] {
                outside = std::thread([&] {
                    target.ask(count_it{}).get();
                    handled = true;
                });
                wait_for(handled);
            });
        outside.join();
        EXPECT_EQ(target.ask(count_it{}).get(), 3);
    }
}

// ---- several workers that leave, and spare workers ----------------------------------------------

// Every worker but one leaves while each of them runs a fiber. Each fiber then starts a second one
// and blocks its thread until all second ones have run.
TEST(liveness, each_fiber_begins_that_several_dismissed_workers_start) {
    constexpr unsigned most = 4;
    for (int i = 0; i < rounds; ++i) {
        sennit::runtime runtime({.workers = 1, .max_workers = most});
        runtime.resize(most);
        std::atomic<bool> resized{false};
        std::latch all_busy(most + 1), all_ran(most);
        std::vector<sennit::fiber> first, second(most);
        for (unsigned k = 0; k < most; ++k)
            first.emplace_back(sennit::fiber_attributes{.runtime = &runtime}, [&, k] {
                all_busy.arrive_and_wait();
                wait_for(resized);
                second[k] = sennit::fiber([&all_ran] { all_ran.count_down(); });
                all_ran.wait();
            });
        all_busy.arrive_and_wait();
        runtime.resize(1);
        resized = true;
        join_all(first);
        join_all(second);
    }
}

// A fiber runs on a spare worker until the watchdog has told that worker to leave, starts another
// fiber, and blocks the thread. The fiber yields, which is progress, so that the watchdog lets the
// spare worker go while the fiber runs there.
void block_on_a_spare_worker_that_leaves(unsigned workers) {
    sennit::runtime runtime({.workers = workers});
    runtime.run([&] {
        std::atomic<bool> free{false}, over{false};
        std::atomic<unsigned> occupied{1}; // by the main fiber
        std::latch opened(1);
        const auto occupy = [&] {
            while (!free) {
            }
            while (!over) sennit::this_fiber::yield();
            opened.wait();
        };
        std::vector<sennit::fiber> busy;
        for (unsigned i = 1; i < workers; ++i)
            busy.emplace_back([&] {
                ++occupied;
                occupy();
            });
        while (occupied < workers) std::this_thread::yield();
        sennit::fiber second;
        sennit::fiber first([&] {
            free = true;
            for (;;) {
                sennit::this_fiber::yield();
                const sennit::runtime_metrics now = runtime.metrics();
                if (now.spares_activated != 0 && now.spares_released == now.spares_activated) break;
            }
            second = sennit::fiber([&opened] { opened.count_down(); });
            over = true;
            opened.wait();
        });
        occupy();
        first.join();
        second.join();
        join_all(busy);
    });
}
TEST_P(liveness_with_workers, fiber_begins_behind_a_spare_worker_that_leaves) {
    for (int i = 0; i < rounds; ++i) block_on_a_spare_worker_that_leaves(workers());
}

} // namespace
} // namespace liveness
