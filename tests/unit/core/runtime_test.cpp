// SPDX-License-Identifier: Apache-2.0
// Tests runtimes: life, results, metrics, allocations, options, stack overflow, fork().
#include "sys/kernel_threads.hpp"

#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>

#if defined(SENNIT_ADDRESS_SANITIZER) || defined(SENNIT_THREAD_SANITIZER)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

namespace {
std::atomic<long> allocations{0};
}
#if !SANITIZED
// If this were inlined, GCC would see malloc paired with delete, and warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
    ++allocations;
    if (void* memory = std::malloc(size)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
#endif

namespace {

long fib(int n) {
    if (n < 2) return n;
    auto [a, b] = sennit::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
    return a + b;
}

TEST(runtime, runtime_is_created_and_destroyed_ten_thousand_times) {
#ifdef SENNIT_EMULATED
    const int rounds = 300;
#else
    const int rounds = SANITIZED ? 300 : 10'000;
#endif
    for (int i = 0; i < rounds; ++i) {
        sennit::runtime runtime({.workers = 1 + static_cast<unsigned>(i % 2)});
        if (i % 3 != 0) {
            ASSERT_EQ(runtime.run([i] { return i; }), i);
        }
    }
}

TEST(runtime, several_runtimes_coexist) {
    sennit::runtime a({.workers = 2}), b({.workers = 3});
    EXPECT_EQ(a.workers() + b.workers(), 5u);
    std::thread other([&] { EXPECT_EQ(a.run([] { return fib(18); }), 2584); });
    EXPECT_EQ(b.run([&] { return a.run([] { return fib(15); }) + fib(15); }), 2 * 610);
    other.join();
}

TEST(runtime, run_returns_result_or_exception_of_function) {
    sennit::runtime runtime({.workers = 2});
    int x = 1;
    EXPECT_EQ(&runtime.run([&]() -> int& { return x; }), &x);
    EXPECT_EQ(*runtime.run([] { return std::make_unique<int>(4); }), 4);
    EXPECT_THROW(runtime.run([] { throw std::runtime_error("x"); }), std::runtime_error);
    EXPECT_EQ(runtime.run([&] { return runtime.run([] { return 5; }); }), 5);
    EXPECT_EQ(sennit::run([] { return sennit::run([] { return 6; }); }), 6);
}

TEST(runtime, metrics_count_events) {
    sennit::runtime runtime({.workers = 2});
    runtime.run([] { return fib(25); });
    const sennit::runtime_metrics m = runtime.metrics();
    EXPECT_EQ(m.workers, 2u);
    EXPECT_GE(m.published, m.steals);
    EXPECT_EQ(m.published, m.steals + m.reclaimed);
    EXPECT_GE(m.tasks_run, 1u);
    EXPECT_GE(m.switches, m.suspensions);
}

TEST(runtime, fork_allocates_nothing_in_steady_state) {
    if (SANITIZED) GTEST_SKIP() << "the sanitizer owns operator new";
    for (unsigned workers : {1u, 2u}) {
        sennit::runtime runtime({.workers = workers});
        runtime.run([] { return fib(24); });
        const long before = allocations;
        runtime.run([] {
            long sum = fib(24);
            for (int i = 0; i < 1000; ++i)
                sum += sennit::fork_reduce(8, 0L, std::plus<>{},
                                           [](std::size_t k) { return static_cast<long>(k); });
            return sum;
        });
        // The runtime may create a context that is needed for the first time. The forks themselves
        // allocate nothing.
        EXPECT_LE(allocations - before, 20);
    }
}

void expect_rejected(const char* variable, const char* value, const char* names) {
    ::setenv(variable, value, 1);
    try {
        sennit::runtime runtime;
        ADD_FAILURE() << variable << "=" << value << " was accepted";
    } catch (const std::invalid_argument& error) {
        EXPECT_NE(std::string(error.what()).find(names), std::string::npos) << error.what();
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
    ::unsetenv(variable);
}

TEST(runtime_options, invalid_options_are_rejected_with_one_line) {
    for (const char* value : {"abc", "0", "1000000", "-1", "2x", "99999999999999999999"})
        expect_rejected("SENNIT_WORKERS", value, "SENNIT_WORKERS");
    expect_rejected("SENNIT_STACK_SIZE", "abc", "SENNIT_STACK_SIZE");
    expect_rejected("SENNIT_STACK_SIZE", "1", "stack size");
    expect_rejected("SENNIT_PIN", "perhaps", "SENNIT_PIN");
    expect_rejected("SENNIT_TOPOLOGY", "maybe", "SENNIT_TOPOLOGY");
    expect_rejected("SENNIT_CONSOLIDATE", "off", "SENNIT_CONSOLIDATE");
    for (const char* value : {"50us", "-1", "1000001"})
        expect_rejected("SENNIT_SEARCH_TIME", value, "SENNIT_SEARCH_TIME");
    using namespace std::chrono_literals;
    EXPECT_THROW(sennit::runtime({.search_time = -1ns}), std::invalid_argument);
    EXPECT_THROW(sennit::runtime({.search_time = 1001ms}), std::invalid_argument);
    for (const char* value : {"on", "65", "-1", "1ms"})
        expect_rejected("SENNIT_WATCHDOG", value, "SENNIT_WATCHDOG");
    EXPECT_THROW(sennit::runtime({.max_spare_workers = 65}), std::invalid_argument);
    EXPECT_THROW(sennit::runtime({.workers = 1025}), std::invalid_argument);
    EXPECT_THROW(sennit::runtime({.stack_size = 1000}), std::invalid_argument);
    EXPECT_THROW(sennit::runtime({.stack_size = std::size_t{1} << 40}), std::invalid_argument);
}

// Forks and tasks reach workers that park at once, and come back.
TEST(runtime_options, runtime_whose_workers_do_not_search_runs_all_work) {
    for (unsigned workers : {1u, 2u, 3u, 8u}) {
        sennit::runtime runtime({.workers = workers, .search_time = std::chrono::nanoseconds(0)});
        for (int round = 0; round < 20; ++round) {
            EXPECT_EQ(runtime.run([] { return fib(18); }), 2584);
            runtime.run([] {
                std::atomic<int> here{0};
                sennit::event all;
                sennit::nursery children;
                for (int i = 0; i < 50; ++i)
                    children.start([&] {
                        if (here.fetch_add(1) == 49) all.set();
                        all.wait();
                    });
                children.join();
                EXPECT_EQ(here, 50);
            });
        }
    }
}

TEST(runtime_options, options_are_read_from_environment) {
    ::setenv("SENNIT_WORKERS", "3", 1);
    ::setenv("SENNIT_STACK_SIZE", "64K", 1);
    ::setenv("SENNIT_PIN", "1", 1);
    {
        sennit::runtime runtime;
        EXPECT_EQ(runtime.workers(), 3u);
        EXPECT_EQ(runtime.run([] { return fib(10); }), 55);
        EXPECT_EQ(sennit::runtime({.workers = 2}).workers(), 2u)
            << "an option in the program overrides the environment";
    }
    ::unsetenv("SENNIT_WORKERS");
    ::unsetenv("SENNIT_STACK_SIZE");
    ::unsetenv("SENNIT_PIN");
}

#if !SANITIZED
[[gnu::noinline]] long recurse(long depth) {
    volatile char frame[512] = {};
    frame[0] = static_cast<char>(depth);
    if (depth < 0) return 0; // Never true, but the compiler must see an end of the recursion.
    return recurse(depth + 1) + frame[0];
}

long fork_for_ever(long n) noexcept {
    if (n < 0) return 0; // Never true, but the compiler must see an end of the recursion.
    auto [a, b] = sennit::fork_join([=]() noexcept { return fork_for_ever(n + 1); },
                                    [=]() noexcept { return n; });
    return a + b;
}

TEST(overflow_death_test, stack_overflow_is_reported_with_context) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_DEATH(
        sennit::runtime({.workers = 1, .stack_size = 64 << 10}).run([] { return recurse(0); }),
        "sennit: \\[SNT-040\\] stack overflow in context [0-9]+ on worker [0-9]+");
    EXPECT_DEATH(sennit::runtime({.workers = 1, .stack_size = 64 << 10}).run([] {
        return fork_for_ever(0);
    }),
                 "sennit: \\[SNT-040\\] (fork )?stack overflow in context");
}
#endif

#if !(SANITIZED)
TEST(fork, child_cannot_use_runtime_of_parent) {
    sennit::runtime old({.workers = 2});
    sennit::run([] { return fib(10); });
    const pid_t child = ::fork();
    if (child == 0) {
        int failures = 0;
        try {
            old.run([] {});
            ++failures;
        } catch (const std::system_error& error) {
            failures += error.code() != std::errc::operation_not_permitted;
        }
        try {
            old.resize(2);
            ++failures;
        } catch (const std::system_error& error) {
            failures += error.code() != std::errc::operation_not_permitted;
        }
        try {
            sennit::fiber lost({.runtime = &old}, [] {});
            ++failures;
        } catch (const std::system_error& error) {
            failures += error.code() != std::errc::operation_not_permitted;
        }
        try {
            sennit::actor_group lost(old);
            ++failures;
        } catch (const std::system_error& error) {
            failures += error.code() != std::errc::operation_not_permitted;
        }
        // The child gets a new default runtime.
        failures += sennit::run([] { return fib(10); }) != 55;
        {
            sennit::runtime fresh({.workers = 2});
            failures += fresh.run([] { return fib(15); }) != 610;
        }
        ::_exit(failures);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_EQ(old.run([] { return fib(10); }), 55);
}

// The C library gives the stack of the parent's sleeping thread to the child's next thread.
TEST(fork, child_does_not_touch_stack_of_sleeping_thread) {
    sennit::channel<int> none;
    std::atomic<sennit::sys::os_thread_id> task{0};
    std::thread sleeper([&] {
        task = sennit::sys::this_os_thread();
        (void)none.pop();
    });
    while (task == 0 || !sennit::sys::is_blocked(task)) std::this_thread::yield();
    const pid_t child = ::fork();
    if (child == 0) {
        std::atomic<bool> filled{false}, used{false};
        std::ptrdiff_t changed = 0;
        std::thread innocent([&] {
            volatile unsigned char buffer[64 * 1024];
            for (auto& each : buffer) each = 90;
            filled = true;
            while (!used) std::this_thread::yield();
            for (auto& each : buffer) changed += each != 90;
        });
        while (!filled) std::this_thread::yield();
        {
            sennit::runtime mine({.workers = 1});
            mine.run([] { sennit::this_fiber::sleep_for(std::chrono::milliseconds(1)); });
        }
        used = true;
        innocent.join();
        ::_exit(changed == 0 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    none.close();
    sleeper.join();
}
#endif

} // namespace
