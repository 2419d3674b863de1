// SPDX-License-Identifier: Apache-2.0
// Name resolution while the system's resolver is slow, or fails: callers leave without waiting for
// it, and at most 32 lookups run at a time.
#include "sys/kernel_threads.hpp"

#include <sennit/block_on.hpp>
#include <sennit/io.hpp>
#include <sennit/nursery.hpp>
#include <sennit/runtime.hpp>
#include <sennit/task.hpp>
#include <sennit/with_timeout.hpp>

#include <gtest/gtest.h>

#include <netdb.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace {

std::atomic<int> answer{0};       // The result of the resolver, if not 0.
std::atomic<bool> stalled{false}; // The resolver does not answer.
std::atomic<int> lookups{0};      // Calls so far.
std::atomic<int> under_way{0};
std::atomic<int> most_under_way{0};

} // namespace

extern "C" {
int __real_getaddrinfo(const char*, const char*, const addrinfo*, addrinfo**);
int __wrap_getaddrinfo(const char* host, const char* service, const addrinfo* hints,
                       addrinfo** list) {
    ++lookups;
    const int now = ++under_way;
    for (int seen = most_under_way;
         seen < now && !most_under_way.compare_exchange_weak(seen, now);) {
    }
    stalled.wait(true);
    --under_way;
    if (const int failed = answer) {
        errno = EMFILE;
        return failed;
    }
    const std::string_view name = host ? host : "";
    return __real_getaddrinfo(name.ends_with(".test") ? "127.0.0.1" : host, service, hints, list);
}
}

namespace {

namespace io = sennit::io;
using namespace std::chrono_literals;

class slow_resolver : public testing::TestWithParam<unsigned> {
protected:
    void SetUp() override {
        stalled = true;
        lookups = most_under_way = 0;
    }
    // The helpers that the test leaves behind end.
    void TearDown() override {
        stalled = false;
        stalled.notify_all();
        while (under_way != 0) std::this_thread::yield();
    }
    static void wait_for_lookups(int count) {
        while (lookups < count) sennit::sched::yield();
    }
    sennit::runtime runtime{{.workers = GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(, slow_resolver, testing::Values(1u, 3u));

TEST_P(slow_resolver, time_limit_leaves_the_lookup_behind) {
    runtime.run([] {
        EXPECT_THROW(sennit::with_timeout(1ms, [] { (void)io::resolve("slow.test", "80"); }),
                     sennit::timed_out);
    });
}

TEST_P(slow_resolver, cancelled_callers_leave_fibers_and_tasks) {
    runtime.run([] {
        sennit::nursery all;
        all.start([] { (void)io::resolve("slow.test", "80"); });
        all.start(io::async_resolve("slow.test", "80"));
        all.start([] { (void)io::tcp_stream::connect("slow.test", 80); });
        wait_for_lookups(3);
        all.cancel();
        all.join();
    });
    EXPECT_EQ(under_way, 3);
}

TEST_P(slow_resolver, at_most_32_lookups_run_at_a_time) {
    constexpr int count = 100;
    std::atomic<int> found{0};
    runtime.run([&] {
        sennit::nursery all;
        for (int i = 0; i < count; ++i)
            all.start([&, i] {
                const auto list = io::resolve(std::to_string(i) + ".test", "80");
                found += list == std::vector{io::endpoint("127.0.0.1:80")};
            });
        wait_for_lookups(32);
        stalled = false;
        stalled.notify_all();
        all.join();
    });
    EXPECT_EQ(found, count);
    EXPECT_EQ(lookups, count);
    EXPECT_EQ(most_under_way, 32);
}

TEST_P(slow_resolver, abandoned_lookups_that_have_not_begun_are_skipped) {
    runtime.run([&] {
        sennit::nursery all;
        for (int i = 0; i < 100; ++i) all.start([] { (void)io::resolve("slow.test", "80"); });
        wait_for_lookups(32);
        all.cancel();
        all.join();
        stalled = false;
        stalled.notify_all();
        (void)io::resolve("last.test", "80");
    });
    EXPECT_LE(lookups, 33);
}

TEST(failing_resolver, errors_have_codes) {
    const struct {
        int from;
        std::error_code to;
    } cases[] = {{EAI_NONAME, io::errc::host_not_found},
                 {EAI_AGAIN, io::errc::resolve_again},
                 {EAI_SERVICE, io::errc::service_not_found},
                 {EAI_FAIL, io::errc::resolve_failed},
                 {EAI_MEMORY, std::make_error_code(std::errc::not_enough_memory)},
                 {EAI_SYSTEM, std::make_error_code(std::errc::too_many_files_open)}};
    // A runtime of its own: the threads of the default runtime would run until the program ends,
    // and other tests count the memory of all threads.
    std::optional<sennit::runtime> runtime(std::in_place, sennit::runtime_options{.workers = 1});
    runtime->run([&] {
        for (const auto& [from, to] : cases) {
            answer = from;
            std::error_code failed;
            EXPECT_TRUE(io::resolve("any.test", "80", {}, failed).empty());
            EXPECT_EQ(failed, to);
            (void)io::tcp_stream::connect("any.test", "80", {}, failed);
            EXPECT_EQ(failed, to);
            EXPECT_THROW((void)sennit::block_on(io::async_resolve("any.test", "80")), io::error);
        }
    });
    runtime.reset();
    while (sennit::sys::list_os_threads().size() != 1) std::this_thread::yield(); // The helpers.
    answer = 0;
}

} // namespace
