// SPDX-License-Identifier: Apache-2.0
// Tests dumps: the state, the wait and the frames of each strand, and the use of its stack.
#include "core/diagnostics/snapshot.hpp"
#include "support.hpp"

#include <sennit/detail/core/here.hpp>
#include <sennit/obs/dump.hpp>
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

bool matches(const std::string& text, const std::string& pattern) {
    return std::regex_search(text, std::regex(pattern));
}

// Returns the part of a dump that describes the fiber with this name.
std::string entry(const std::string& dump, const std::string& name) {
    // Skips places where another strand waits for the fiber.
    const std::size_t at = dump.find("'" + name + "' [");
    if (at == std::string::npos) return {};
    const std::size_t begin = dump.rfind('\n', at) + 1;
    const std::size_t end = dump.find("\nfiber ", at);
    return dump.substr(begin, end - begin);
}

// Dumps until the fiber is shown as blocked. On another worker the fiber may not have blocked yet.
std::string entry_when_blocked(const sennit::runtime& runtime, const std::string& name) {
    for (;;) {
        const std::string found = entry(dump_of(runtime), name);
        if (found.find("[blocked") != std::string::npos) return found;
        sennit::this_fiber::yield();
    }
}

class dump_on : public testing::TestWithParam<unsigned> {
protected:
    sennit::runtime runtime{{.workers = GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(workers, dump_on, testing::Values(1u, 2u, 4u));

TEST_P(dump_on, dump_of_idle_runtime_shows_no_strands) {
    const std::string text = dump_of(runtime);
    EXPECT_TRUE(matches(text, "sennit: runtime 0x[0-9a-f]+, " + std::to_string(GetParam()) +
                                  " workers, 0 strands"))
        << text;
}

TEST_P(dump_on, dump_shows_operation_and_object_of_blocked_fiber) {
    runtime.run([this] {
        sennit::event go;
        sennit::fiber waiter({.name = "waiter"}, [&] { go.wait(); });
        const std::string text = entry_when_blocked(runtime, "waiter");
        std::ostringstream address;
        address << static_cast<const void*>(&go);
        EXPECT_NE(text.find("blocked in event at " + address.str()), std::string::npos) << text;
        EXPECT_TRUE(matches(text, "made at .*\\+0x")) << text;
        EXPECT_TRUE(matches(text, "runs .*TestBody.*lambda")) << text;
        EXPECT_TRUE(
            matches(text, "stack [0-9]+: [0-9.]+ KiB in use, [0-9]+ KiB touched, of [0-9]+ KiB"))
            << text;
        go.set();
    });
}

// Returns the place of creation of the only fiber that has not begun. The caller has kept the
// worker since it created that fiber.
const void* newest_made_at(sennit::runtime& runtime) {
    const void* found = nullptr;
    for (const auto& one : sennit::sched::snapshot::take(runtime.core()).strands)
        if (one.is_fiber && one.state == sennit::sched::strand_state::fresh) {
            EXPECT_EQ(found, nullptr) << "two fibers have not begun";
            found = one.made_at;
        }
    return found;
}

// `make` is an expression in this file. The recorded place of creation must lie in its line, not in
// the library.
#define SENNIT_EXPECT_MADE_HERE(make)                                                              \
    {                                                                                              \
        const void* before = sennit::sched::here();                                                \
        [[maybe_unused]] auto&& made = make;                                                       \
        const void* after = sennit::sched::here();                                                 \
        const void* told = newest_made_at(runtime);                                                \
        EXPECT_TRUE(std::less_equal<>()(before, told) && std::less_equal<>()(told, after))         \
            << #make ": " << before << ", " << told << ", " << after;                              \
        while (newest_made_at(runtime)) sennit::this_fiber::yield();                               \
    }                                                                                              \
    static_assert(true)

TEST(dump, dump_shows_where_fiber_was_created) {
    sennit::runtime runtime({.workers = 1, .max_spare_workers = 0});
    runtime.run([&] {
        constexpr auto nothing = [] {};
        constexpr auto after_it = [](auto&&) {};
        struct with_a_body : sennit::monitor {
            void run() {}
        };
        const auto ready = sennit::make_ready_future().share();
        SENNIT_EXPECT_MADE_HERE(sennit::fiber(nothing));
        SENNIT_EXPECT_MADE_HERE(sennit::fiber({.name = "named"}, nothing));
        SENNIT_EXPECT_MADE_HERE(sennit::async(nothing));
        SENNIT_EXPECT_MADE_HERE(sennit::async(sennit::launch::enqueue, nothing));
        SENNIT_EXPECT_MADE_HERE(sennit::spawn(nothing));
        SENNIT_EXPECT_MADE_HERE(sennit::make_ready_future().then(after_it));
        SENNIT_EXPECT_MADE_HERE(ready.then(after_it));
        SENNIT_EXPECT_MADE_HERE(
            sennit::future<int>(sennit::make_ready_future(sennit::make_ready_future(1))));
        SENNIT_EXPECT_MADE_HERE(sennit::active<with_a_body>());
        sennit::nursery family;
        SENNIT_EXPECT_MADE_HERE((family.start(nothing), 0));
        SENNIT_EXPECT_MADE_HERE((family.start({.name = "named"}, nothing), 0));
        family.join();
    });
}

// A function of the standard library creates this fiber. The name of the closure contains the name
// of this test, and so shows where the program creates the fiber.
TEST_P(dump_on, closure_shows_creator_of_fiber_in_container) {
    runtime.run([this] {
        sennit::event go;
        std::vector<sennit::fiber> all;
        all.emplace_back(sennit::fiber_attributes{.name = "inside"}, [&] { go.wait(); });
        const std::string text = entry_when_blocked(runtime, "inside");
        EXPECT_TRUE(matches(text, "runs .*closure_shows_creator_of_fiber.*lambda")) << text;
        go.set();
    });
}

TEST_P(dump_on, dump_names_each_kind_of_wait) {
    runtime.run([this] {
        sennit::mutex mutex;
        sennit::channel<int> channel(1), full(1);
        sennit::event event;
        sennit::latch latch(2);
        sennit::barrier barrier(2);
        sennit::counting_semaphore<> semaphore(0);
        sennit::condition_variable condition;
        sennit::mutex guard;
        sennit::shared_mutex shared;
        sennit::promise<int> promise;
        auto future = promise.get_future();
        bool flag = false;
        full.push(1);
        mutex.lock();
        shared.lock();
        std::vector<sennit::fiber> all;
        all.reserve(16); // Fiber "m" reads this vector.
        const auto start = [&](const char* name, auto f) {
            all.emplace_back(sennit::fiber_attributes{.name = name}, f);
        };
        start("a", [&] { std::lock_guard inside(mutex); });
        start("b", [&] { (void)channel.pop(); });
        start("c", [&] { full.push(2); });
        start("d", [&] { event.wait(); });
        start("e", [&] { latch.arrive_and_wait(); });
        start("f", [&] { barrier.arrive_and_wait(); });
        start("g", [&] { semaphore.acquire(); });
        start("h", [&] {
            std::unique_lock lock(guard);
            condition.wait(lock, [&] { return flag; });
        });
        start("i", [&] { shared.lock_shared(), shared.unlock_shared(); });
        start("j", [&] { (void)future.get(); });
        start("k", [&] { sennit::select(sennit::on_pop(channel, [](int) {})); });
        start("m", [&] { all[3].join(); });
        start("n", [&] {
            sennit::waituntil(sennit::on_pop(channel, [](int) {}) && sennit::on_set(event, [] {}));
        });
        sennit::nursery sleepers;
        sleepers.start({.name = "l"}, [] { sennit::this_fiber::sleep_for(1h); });
        const std::pair<const char*, const char*> expected[] = {
            {"a", "mutex"},         {"b", "channel::pop"},
            {"c", "channel::push"}, {"d", "event"},
            {"e", "latch"},         {"f", "barrier"},
            {"g", "semaphore"},     {"h", "condition_variable"},
            {"i", "shared_mutex"},  {"k", "select"},
            {"l", "sleep"},         {"m", "fiber::join"},
            {"n", "waituntil"}};
        for (const auto& [name, what] : expected) {
            const std::string text = entry_when_blocked(runtime, name);
            const bool on_one = std::string(what) != "sleep" && std::string(what) != "select" &&
                                std::string(what) != "waituntil";
            EXPECT_NE(text.find(std::string("blocked in ") + what + (on_one ? " at 0x" : ", for ")),
                      std::string::npos)
                << text;
        }
        EXPECT_TRUE(matches(entry_when_blocked(runtime, "a"),
                            "waits for strand [0-9]+")); // This body owns the mutex.
        EXPECT_TRUE(matches(entry_when_blocked(runtime, "m"), "waits for fiber [0-9]+ 'd'"));
        EXPECT_TRUE(
            matches(entry_when_blocked(runtime, "l"), "at most 3[56][0-9][0-9]\\.[0-9] s more"));
        (void)entry_when_blocked(runtime, "j");
        mutex.unlock();
        shared.unlock();
        (void)full.pop();
        event.set();
        latch.count_down();
        barrier.arrive_and_wait();
        semaphore.release();
        {
            std::lock_guard lock(guard);
            flag = true;
        }
        condition.notify_all();
        promise.set_value(1);
        channel.push(1);
        channel.push(1);
        channel.push(1);
        sleepers.cancel();
        for (sennit::fiber& one : all)
            if (&one != &all[3]) one.join(); // Fiber "m" joins that fiber.
    });
}

[[gnu::noinline]] void blocks_deep_inside(sennit::event& go, int depth) {
    if (depth == 0)
        go.wait();
    else
        blocks_deep_inside(go, depth - 1);
    asm volatile("" ::: "memory"); // Prevents a tail call.
}

TEST_P(dump_on, dump_shows_frames_of_blocked_fiber) {
    runtime.run([this] {
        sennit::event go;
        sennit::fiber shallow({.name = "shallow"}, [&] { blocks_deep_inside(go, 0); });
        sennit::fiber deep({.name = "deep"}, [&] { blocks_deep_inside(go, 20); });
        const auto frames = [](const std::string& text) {
            return std::count(text.begin(), text.end(), '#');
        };
        const auto few = frames(entry_when_blocked(runtime, "shallow"));
        const auto many = frames(entry_when_blocked(runtime, "deep"));
        EXPECT_GE(few, 4);
        EXPECT_GE(many, 20);
        go.set();
    });
}

TEST_P(dump_on, dump_distinguishes_running_ready_and_unstarted_fibers) {
    runtime.run([this] {
        // With one worker, no other strand runs while this one takes the dump.
        sennit::fiber fresh({.name = "fresh"}, [] {});
        const std::string text = dump_of(runtime);
        EXPECT_TRUE(matches(text, "strand [0-9]+ \\[running on worker [0-9]")) << text;
        if (GetParam() != 1) return;
        EXPECT_NE(entry(text, "fresh").find("[ready, not begun]"), std::string::npos) << text;
        // Atomic, because the watchdog may let a spare worker run the fiber.
        std::atomic<bool> once = false;
        sennit::fiber yields({.name = "yields"}, [&] {
            once = true;
            sennit::this_fiber::yield();
        });
        while (!once) sennit::this_fiber::yield();
        const std::string later = entry(dump_of(runtime), "yields");
        EXPECT_TRUE(later.empty() || later.find("[ready]") != std::string::npos) << later;
    });
}

TEST_P(dump_on, dump_shows_fiber_below_another_strand) {
    if (GetParam() != 1) return; // With more workers, another worker may take the child.
    runtime.run([this] {
        std::string shown;
        // At a poll of the worker, a join lets other tasks run first and does not run its child.
        for (int attempts = 0; attempts < 100; ++attempts) {
            sennit::event go;
            sennit::fiber outer({.name = "outer"}, [&] {
                sennit::fiber inner({.name = "inner"}, [&] { go.wait(); });
                inner.join(); // Runs `inner` on top of this stack.
            });
            (void)entry_when_blocked(runtime, "inner");
            shown = entry(dump_of(runtime), "outer");
            go.set();
            outer.join();
            if (shown.find("[waits for the strand above it on its stack]") != shown.npos) return;
        }
        ADD_FAILURE() << shown;
    });
}

TEST_P(dump_on, dump_shows_caller_of_blocking_call) {
    runtime.run([this] {
        std::atomic<bool> inside = false, go = false;
        sennit::fiber caller({.name = "caller"}, [&] {
            sennit::blocking([&] {
                inside = true;
                inside.notify_all();
                go.wait(false);
            });
        });
        while (!inside) sennit::this_fiber::yield();
        EXPECT_NE(entry_when_blocked(runtime, "caller").find("blocked in blocking"),
                  std::string::npos);
        go = true;
        go.notify_all();
    });
}

TEST_P(dump_on, dump_shows_circle_of_waiting_fibers) {
    runtime.run([this] {
        sennit::timed_mutex first, second;
        sennit::latch both(2);
        std::atomic<bool> seen = false;
        const auto one = [&](sennit::timed_mutex& mine, sennit::timed_mutex& other) {
            mine.lock();
            both.arrive_and_wait();
            while (!seen && !other.try_lock_for(20ms)) {
            }
            if (!seen) other.unlock();
            mine.unlock();
        };
        sennit::fiber a({.name = "a"}, one, std::ref(first), std::ref(second));
        sennit::fiber b({.name = "b"}, one, std::ref(second), std::ref(first));
        std::string text;
        while (!matches(text, "circle: ")) {
            text = dump_of(runtime);
            sennit::this_fiber::yield();
        }
        EXPECT_TRUE(matches(
            text, "circle: fiber [0-9]+ '(a|b)' waits for fiber [0-9]+ '(a|b)' waits for fiber"))
            << text;
        seen = true;
    });
}

TEST_P(dump_on, several_strands_dump_busy_runtime) {
    constexpr int rounds = 50;
    std::atomic<bool> stop = false;
    std::thread outside([&] {
        for (int i = 0; i < rounds; ++i) EXPECT_TRUE(matches(dump_of(runtime), "sennit: runtime"));
        stop = true;
    });
    runtime.run([&] {
        sennit::channel<int> there, back(4);
        sennit::fiber echo([&] {
            for (int i : there) back.push(i);
        });
        std::vector<sennit::fiber> yields;
        for (int i = 0; i < 4; ++i)
            yields.emplace_back([&] {
                while (!stop) {
                    sennit::fiber child([] { sennit::this_fiber::yield(); });
                    child.join();
                    auto [a, b] = sennit::fork_join([] { return 1; }, [] { return 2; });
                    if (a + b != 3) break;
                }
            });
        sennit::fiber asks([&] {
            while (!stop) {
                EXPECT_TRUE(matches(dump_of(runtime), "sennit: runtime"));
                sennit::this_fiber::yield();
            }
        });
        while (!stop) {
            there.push(1);
            EXPECT_EQ(back.pop(), 1);
        }
        there.close();
    });
    outside.join();
}

[[gnu::noinline]] std::size_t use_stack(std::size_t bytes) {
    std::vector<char> unused(1);
    auto* memory = static_cast<volatile char*>(__builtin_alloca(bytes));
    for (std::size_t i = 0; i < bytes; i += 512) memory[i] = unused[0];
    return sennit::this_fiber::stack().used;
}

TEST(stack_use, plain_thread_has_no_stack_of_library) {
    EXPECT_EQ(sennit::this_fiber::stack().size, 0u);
}

TEST(stack_use, stack_reports_used_and_touched_bytes) {
    sennit::runtime runtime({.workers = 1, .stack_size = 1 << 20});
    runtime.run([] {
        const auto before = sennit::this_fiber::stack();
        EXPECT_NEAR(static_cast<double>(before.size), 1 << 20, 4096);
        EXPECT_GT(before.used, 0u);
        EXPECT_LE(before.used, before.touched);
        EXPECT_GE(use_stack(300'000), before.used + 300'000);
        const auto after = sennit::this_fiber::stack();
        EXPECT_LT(after.used, before.used + 4096);
        EXPECT_GE(after.touched, 300'000u);
        EXPECT_LE(after.touched, after.size + 4096);
        // A fiber that runs on this stack finds the bytes already touched. A joined fiber runs on
        // this stack, unless a global poll is due at that moment.
        const auto* mine = static_cast<const char*>(__builtin_frame_address(0));
        bool found = false;
        for (int i = 0; i < 100'000 && !found; ++i) {
            sennit::fiber next([&] {
                const auto* deeper = static_cast<const char*>(__builtin_frame_address(0));
                found = deeper < mine && mine - deeper < 300'000;
                if (found) {
                    EXPECT_GE(sennit::this_fiber::stack().touched, 300'000u);
                }
            });
            next.join();
        }
        EXPECT_TRUE(found);
    });
}

TEST(dump, dump_shows_all_runtimes) {
    sennit::runtime one({.workers = 1}), two({.workers = 2});
    std::ostringstream text;
    sennit::obs::dump(text);
    EXPECT_TRUE(matches(text.str(), ", 1 workers, 0 strands"));
    EXPECT_TRUE(matches(text.str(), ", 2 workers, 0 strands"));
}

TEST(dump, dump_on_signal_refuses_unhandleable_signal) {
    EXPECT_THROW(sennit::obs::dump_on_signal(SIGKILL), std::invalid_argument);
    EXPECT_THROW(sennit::obs::dump_on_signal(0), std::invalid_argument);
}

} // namespace
