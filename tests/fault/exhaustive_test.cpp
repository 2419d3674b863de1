// SPDX-License-Identifier: Apache-2.0
// Refuses each request that the system can refuse, one request in each run, until a run meets no
// refusal. In each run the caller gets the right answer or a documented exception, nothing is
// leaked, and the next run works.
#include "faces.hpp"
#include "faults.hpp"

#include "sys/kernel_threads.hpp"
#include "take_place_of_worker.hpp"

#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <numeric>
#include <ostream>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <vector>

namespace {

using faults::extent, faults::request;

const sennit::runtime_options options{.workers = 3, .stack_size = 64 << 10};

// ---- scenarios: each runs on a worker of a runtime with three and says whether the answer was
// right -----------------

bool do_nothing() {
    return true;
}

// Parks the caller until another strand wakes the waiter in `place`.
void wait_at(std::atomic<sennit::sched::waiter*>& place) {
    sennit::sched::waiter who;
    sennit::sched::park(
        [](void* where, sennit::sched::waiter& self) noexcept {
            static_cast<std::atomic<sennit::sched::waiter*>*>(where)->store(&self);
            return true;
        },
        &place, who);
}

// Two contexts are suspended at the same time, so the runtime needs five; it begins with three.
// With every context refused, two of the three workers are blocked, and the third must find the
// child that frees them.
bool suspend_two_at_once() {
    std::atomic<sennit::sched::waiter*> a{nullptr}, b{nullptr};
    const auto [x, y, z] = sennit::fork_join(
        [&] {
            wait_at(a);
            return 1;
        },
        [&] {
            wait_at(b);
            return 2;
        },
        [&] {
            while (!a.load() || !b.load()) std::this_thread::yield();
            sennit::sched::wake(*a.load());
            sennit::sched::wake(*b.load());
            return 3;
        });
    return x == 1 && y == 2 && z == 3;
}

// Joins that find their child stolen, children that allocate, results that own memory.
std::vector<std::string> leaves(int depth) {
    if (depth == 0) return {std::string(40, 'x')};
    auto [left, right] =
        sennit::fork_join([=] { return leaves(depth - 1); }, [=] { return leaves(depth - 1); });
    for (auto& one : right) left.push_back(std::move(one));
    return std::move(left);
}
bool join_a_tree() {
    for (int i = 0; i < 3; ++i)
        if (leaves(4) != std::vector<std::string>(16, std::string(40, 'x'))) return false;
    return true;
}

bool spawn_a_hundred() {
    std::atomic<int> ran{0};
    sennit::scope children;
    for (int i = 0; i < 100; ++i)
        children.spawn([&ran, text = std::string(40, 'x'), more = std::make_shared<int>(i)] {
            ran += text.size() == 40 && *more >= 0;
        });
    children.join();
    return ran == 100;
}

bool collect_results() {
    const std::vector<long> numbers =
        sennit::fork_each(50, [](std::size_t i) { return static_cast<long>(i); });
    const std::vector<std::string> texts =
        sennit::fork_each(50, [](std::size_t i) { return std::string(i + 20, 'x'); });
    std::size_t letters = 0;
    for (const auto& one : texts) letters += one.size();
    return std::accumulate(numbers.begin(), numbers.end(), 0L) == 1225 && numbers.size() == 50 &&
           letters == 2225;
}

// A context of one runtime waits for a job in another.
bool run_in_another_runtime() {
    sennit::runtime other({.workers = 2, .stack_size = 64 << 10});
    const auto [a, b] =
        sennit::fork_join([&] { return other.run([] { return collect_results(); }); },
                          [&] { return other.run([] { return std::string(40, 'x'); }); });
    return a && b == std::string(40, 'x');
}

struct scenario {
    const char* name;
    bool (*body)();
    // True if the body itself allocates, independent of the scheduling.
    bool allocates;
    bool maps;
    bool starts_threads;
    // True if the program may end before any worker runs out of work.
    bool may_not_sleep = false;
};
void PrintTo(const scenario& of, std::ostream* out) {
    *out << of.name;
}
constexpr scenario scenarios[] = {
    {"do_nothing", &do_nothing, false, false, false},
    {"suspend_two_at_once", &suspend_two_at_once, true, true, false},
    {"join_a_tree", &join_a_tree, true, false, false},
    {"spawn_a_hundred", &spawn_a_hundred, true, false, false},
    {"collect_results", &collect_results, true, false, false},
    {"run_in_another_runtime", &run_in_another_runtime, true, true, true},
    {"fibers", &faults::features::fibers, true, false, false, true},
    {"fibers_with_attributes", &faults::features::fibers_with_attributes, true, true, false, true},
    {"fibers_that_stop", &faults::features::fibers_that_stop, true, false, false, true},
    {"locks", &faults::features::locks, false, false, false, true},
    {"channels", &faults::features::channels, true, false, false, true},
    {"a_growing_channel", &faults::features::a_growing_channel, true, false, false, true},
    {"selects", &faults::features::selects, true, false, false, true},
    {"futures", &faults::features::futures, true, false, false, true},
    {"all_and_any", &faults::features::all_and_any, true, false, false, true},
    {"a_nursery", &faults::features::a_nursery, true, false, false, true},
    {"families", &faults::features::families, true, false, false, true},
    {"shared_values", &faults::features::shared_values, true, false, false, true},
    {"timers", &faults::features::timers, false, false, false, true},
    {"actors", &faults::features::actors, true, false, false, true},
    {"bounded_actors", &faults::features::bounded_actors, true, false, false, true},
    {"open_actors", &faults::features::open_actors, true, false, false, true},
    {"monitors", &faults::features::monitors, false, false, false, true},
    {"accepted_calls", &faults::features::accepted_calls, false, false, false, true},
    {"coroutines", &faults::features::coroutines, true, false, false, true},
    {"tasks", &faults::features::tasks, true, false, false, true},
    {"task_graphs", &faults::features::task_graphs, true, false, false, true},
    {"pipelines", &faults::features::pipelines, true, false, false, true},
    {"connections_that_wait", &faults::features::connections_that_wait, true, false, false, true},
};

bool needs(const scenario& of, request what) {
    return what == request::allocation ? of.allocates
           : what == request::mapping  ? of.maps
                                       : of.starts_threads;
}

// ---- the search ---------------------------------------------------------------------------------

enum class answer { right, wrong, documented_exception, other_exception };

template <class F>
answer answer_of(F&& run) {
    try {
        return run() ? answer::right : answer::wrong;
    } catch (const std::bad_alloc&) {
        return answer::documented_exception;
    } catch (const std::system_error& error) {
        return error.code() == std::errc::resource_unavailable_try_again
                   ? answer::documented_exception
                   : answer::other_exception;
    } catch (...) {
        return answer::other_exception;
    }
}

using parameters = std::tuple<scenario, request, extent>;

// The kernel lists a thread that has been joined until it has run to its end.
void wait_for_ending_threads() {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (sennit::sys::list_os_threads().size() != 1 && std::chrono::steady_clock::now() < until)
        std::this_thread::yield();
}

class refusals : public testing::TestWithParam<parameters> {
protected:
    static void SetUpTestSuite() { take_place_of_worker(); }

    // The account counts the requests of all threads. No earlier test may leave a thread behind, as
    // one that uses the default runtime does.
    void SetUp() override {
        wait_for_ending_threads();
        ASSERT_EQ(sennit::sys::list_os_threads().size(), 1U)
            << "an earlier test has left a thread behind; make a runtime in that test, and wait "
               "for detached threads";
    }

    const scenario& what() { return std::get<0>(GetParam()); }
    request kind() { return std::get<1>(GetParam()); }
    extent how() { return std::get<2>(GetParam()); }

    // Calls `attempt(n)`, which returns the number of refusals that it met, for n = 1, 2, … The
    // number of requests of a run depends on the scheduling, so one run without a refusal does not
    // end the search yet.
    template <class F>
    long exhaust(F&& attempt) {
        constexpr int calm_runs = 4;
        long met = 0;
        int calm = 0;
        for (long n = 1; calm < calm_runs && !HasFailure(); ++n) {
            SCOPED_TRACE(testing::Message() << faults::name(kind()) << " " << n << " refused");
            const long refused = attempt(n);
            met += refused;
            calm = refused == 0 ? calm + 1 : 0;
        }
        return met;
    }

    static void judge(answer got, long refused) {
        EXPECT_NE(got, answer::wrong);
        EXPECT_NE(got, answer::other_exception);
        EXPECT_TRUE(refused > 0 || got == answer::right) << "an exception without a refusal";
    }
};

TEST_P(refusals, in_the_whole_life_of_a_runtime) {
    const auto life = [this] {
        sennit::runtime runtime(options);
        return runtime.run(what().body);
    };
    // The first run makes the objects that a process makes once.
    ASSERT_TRUE(life());
    const long met = exhaust([&](long n) {
        const faults::account before = faults::balance();
        faults::refuse(kind(), n, how());
        const answer got = answer_of(life);
        const long refused = faults::stop();
        judge(got, refused);
        EXPECT_EQ(faults::balance(), before);
        EXPECT_EQ(answer_of(life), answer::right) << "the next run";
        EXPECT_EQ(faults::balance(), before) << "after the next run";
        return refused;
    });
    EXPECT_GT(met, 0);
}

TEST_P(refusals, in_a_run_of_a_runtime_that_goes_on) {
    // The first run makes the objects that a process makes once.
    ASSERT_TRUE(sennit::runtime(options).run(what().body));
    const long met = exhaust([&](long n) {
        const faults::account before = faults::balance();
        long refused = 0;
        {
            sennit::runtime runtime(options);
            faults::refuse(kind(), n, how());
            const answer got = answer_of([&] { return runtime.run(what().body); });
            refused = faults::stop();
            judge(got, refused);
            EXPECT_EQ(answer_of([&] { return runtime.run(what().body); }), answer::right)
                << "the next run";
        }
        EXPECT_EQ(faults::balance(), before);
        return refused;
    });
    if (needs(what(), kind())) {
        EXPECT_GT(met, 0);
    }
}

std::string name_of(const testing::TestParamInfo<parameters>& test) {
    const auto& [what, kind, how] = test.param;
    return std::string(what.name) + "_" + faults::name(kind) + "_" + faults::name(how);
}

// Refusals that the caller must not notice: they change only how the library works.
class hindrances : public refusals {};

TEST_P(hindrances, change_no_answer) {
    static const sennit::runtime_options pinned{.workers = 3, .stack_size = 64 << 10, .pin = true};
    const auto life = [this] {
        sennit::runtime runtime(pinned);
        return runtime.run(what().body);
    };
    // The first run makes the objects that a process makes once.
    ASSERT_TRUE(life());
    // Refuses the first request until a run meets a refusal, because in a short run no worker need
    // have slept. Then the test refuses the second request, and so on, up to a limit: a worker that
    // cannot sleep tries again and again.
    const int lives = what().may_not_sleep ? 50 : 1000;
    constexpr long most = 40;
    long met = 0;
    long n = 1;
    for (int life_number = 0, calm = 0; life_number < lives && n <= most && calm < 4;
         ++life_number) {
        SCOPED_TRACE(testing::Message() << faults::name(kind()) << " " << n << " refused");
        const faults::account before = faults::balance();
        faults::refuse(kind(), n, how());
        EXPECT_EQ(answer_of(life), answer::right);
        const long refused = faults::stop();
        EXPECT_EQ(faults::balance(), before);
        met += refused;
        if (met == 0) continue;
        calm = refused == 0 ? calm + 1 : 0;
        ++n;
    }
    EXPECT_TRUE(met > 0 || what().may_not_sleep);
}

// The worker has time to park before its timer is due. Short timers often end during its search.
TEST(refused_sleeps, a_timer_is_seen_though_no_worker_can_sleep) {
    sennit::runtime runtime({.workers = 1});
    faults::refuse(faults::request::sleep, 1, faults::extent::all_from_there);
    runtime.run([] { sennit::this_fiber::sleep_for(std::chrono::milliseconds(5)); });
    EXPECT_GT(faults::stop(), 0);
}

INSTANTIATE_TEST_SUITE_P(, hindrances,
                         testing::Combine(testing::ValuesIn(scenarios),
                                          testing::Values(request::sleep, request::barrier,
                                                          request::affinity),
                                          testing::Values(extent::one, extent::all_from_there)),
                         &name_of);

INSTANTIATE_TEST_SUITE_P(, refusals,
                         testing::Combine(testing::ValuesIn(scenarios),
                                          testing::Values(request::allocation, request::mapping,
                                                          request::thread_creation),
                                          testing::Values(extent::one, extent::all_from_there)),
                         &name_of);

} // namespace
