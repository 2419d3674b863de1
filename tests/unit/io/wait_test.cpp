// SPDX-License-Identifier: Apache-2.0
// The ends of waits: time limits, cancellation, close; descriptors of other libraries; numbers that
// are used again; the worker that waits for events.
#include "support.hpp"

#include "../../support/child_process.hpp"

#include "core/diagnostics/deadlock_detector.hpp"
#include "core/policy/tuning.hpp"

#include <sennit/channel.hpp>
#include <sennit/detail/base/sanitizers.hpp>
#include <sennit/fiber.hpp>
#include <sennit/runtime_options.hpp>
#include <sennit/semaphore.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <initializer_list>
#include <optional>
#include <sstream>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;

// A buffer that lives to the end of the call.
struct scratch {
    std::array<std::byte, 16> memory{};
    operator io::bytes() noexcept { return memory; }
};

class io_waits : public with_workers {};
SENNIT_IO_FOR_WORKERS(io_waits);

TEST_P(io_waits, limit_of_stream_ends_each_wait) {
    runtime.run([] {
        auto [a, b] = io::socket_pair();
        b.timeout(1ms);
        std::error_code failed;
        EXPECT_EQ(b.read_some(scratch(), failed), 0u);
        EXPECT_EQ(failed, std::errc::timed_out);
        a.write("late");
        b.no_timeout();
        EXPECT_EQ(read_text(b, 4), "late");
    });
}

// Returns when the runtime's dump names all of `reasons`: its fibers wait for them.
void await_waits(sennit::runtime& in, std::initializer_list<const char*> reasons) {
    const auto all_wait = [&] {
        std::ostringstream dump;
        in.dump(dump);
        const std::string text = dump.str();
        return std::all_of(reasons.begin(), reasons.end(),
                           [&](const char* each) { return text.find(each) != std::string::npos; });
    };
    while (!all_wait()) sennit::this_fiber::yield();
}

// Calls `read`, and checks that it timed out, and no earlier than `limit` after its begin.
template <class F>
void expect_timeout_after(std::chrono::nanoseconds limit, F&& read) {
    const auto start = std::chrono::steady_clock::now();
    std::error_code failed;
    EXPECT_EQ(read(failed), 0u);
    EXPECT_EQ(failed, std::errc::timed_out);
    EXPECT_GE(std::chrono::steady_clock::now() - start, limit);
}

// The timer of the earlier waits is armed when the last one begins.
TEST_P(io_waits, limit_begins_anew_with_each_wait) {
    runtime.run([] {
        auto [a, b] = io::socket_pair();
        b.timeout(20ms);
        sennit::fiber echo([&b = b] {
            for (int i = 0; i < 50; ++i) b.write(read_text(b, 1));
            expect_timeout_after(20ms,
                                 [&](auto& failed) { return b.read_some(scratch(), failed); });
        });
        for (int i = 0; i < 50; ++i) {
            a.write("x");
            EXPECT_EQ(read_text(a, 1), "x");
        }
        echo.join();
    });
}

// Several readers of one stream, with a limit of each own, and a writer of the other direction.
TEST_P(io_waits, each_wait_has_the_limit_of_its_beginning) {
    runtime.run([this] {
        auto [a, b] = io::socket_pair();
        b.send_buffer(4096);
        std::atomic<int> ended{0};
        sennit::nursery waiters;
        b.timeout(1h);
        std::error_code of_patient;
        waiters.start([&b = b, &of_patient] { (void)b.read_some(scratch(), of_patient); });
        await_waits(runtime, {"data on a socket"});
        b.timeout(3ms);
        const auto begun = std::chrono::steady_clock::now();
        waiters.start([&b = b, &ended] {
            expect_timeout_after(3ms, [&](auto& failed) { return b.read_some(scratch(), failed); });
            ++ended;
        });
        waiters.start([&b = b, &ended] {
            const std::string large(1'000'000, 'x');
            std::error_code failed;
            (void)b.write(io::bytes_of(large), failed);
            EXPECT_EQ(failed, std::errc::timed_out);
            ++ended;
        });
        while (ended != 2) sennit::this_fiber::yield();
        EXPECT_GE(std::chrono::steady_clock::now() - begun, 3ms);
        EXPECT_FALSE(of_patient);
        a.write("x");
        waiters.join();
        EXPECT_FALSE(of_patient);
    });
}

// A connection whose requests are always there, and take long, among which another one has one
// request: 31 reads in a row would be no reason for a yield by their number.
constexpr int requests_in_a_row = 31;
void compute_for_a_turn() {
    const auto end = std::chrono::steady_clock::now() + 2 * sennit::sched::tuning::io_turn_ns * 1ns;
    while (std::chrono::steady_clock::now() < end) {
    }
}

TEST(io_turns, long_requests_of_one_client_let_another_client_through) {
    sennit::runtime one({.workers = 1});
    one.run([] {
        auto [client, server] = io::socket_pair();
        auto [other_client, other_server] = io::socket_pair();
        bool served = false;
        sennit::fiber other([&served, &from = other_server] {
            (void)read_text(from, 1);
            served = true;
        });
        sennit::this_fiber::yield(); // It waits.
        client.write(std::string(requests_in_a_row, 'x'));
        other_client.write("x");
        int before = 0;
        for (int i = 0; i < requests_in_a_row; ++i) {
            (void)read_text(server, 1);
            compute_for_a_turn();
            before += !served;
        }
        EXPECT_LE(before, 4);
        other.join();
    });
}

// The runtime whose timers know the limit ends first.
TEST(io_limits, limit_outlives_the_runtime_of_its_timer) {
    auto [a, b] = io::socket_pair();
    b.timeout(1h);
    {
        sennit::runtime first({.workers = 1});
        first.run([&a = a, &b = b] {
            sennit::fiber late([&a] { a.write("x"); });
            EXPECT_EQ(read_text(b, 1), "x");
            late.join();
        });
    }
    b.timeout(1ms);
    sennit::runtime second({.workers = 1});
    second.run([&b = b] {
        expect_timeout_after(1ms, [&](auto& failed) { return b.read_some(scratch(), failed); });
    });
}

TEST_P(io_waits, with_timeout_loses_no_byte) {
    runtime.run([] {
        auto [a, b] = io::socket_pair();
        EXPECT_THROW(sennit::with_timeout(1ms, [&b = b] { (void)b.read_some(scratch()); }),
                     sennit::timed_out);
        a.write("kept");
        EXPECT_EQ(read_text(b, 4), "kept");
    });
}

// Readers are cancelled while bytes come: each byte is read by one reader.
TEST_P(io_waits, cancelled_readers_take_no_byte) {
    runtime.run([] {
        constexpr int rounds = 200;
        auto [a, b] = io::socket_pair();
        int got = 0;
        for (int i = 0; i < rounds; ++i) {
            sennit::nursery one;
            one.start([&b = b, &got] { got += static_cast<int>(b.read_some(scratch())); });
            if (i % 3 != 0) sennit::this_fiber::yield();
            a.write("x");
            if (i % 2 != 0) sennit::this_fiber::yield();
            one.cancel();
            one.join();
        }
        a.close();
        got += static_cast<int>(read_rest(b).size());
        EXPECT_EQ(got, rounds);
    });
}

TEST_P(io_waits, close_ends_waits_with_an_error) {
    runtime.run([this] {
        auto [a, b] = io::socket_pair();
        std::error_code reading, writing;
        a.send_buffer(4096);
        const std::string large(1'000'000, 'x');
        sennit::nursery waiters;
        waiters.start([&a = a, &reading] { (void)a.read_some(scratch(), reading); });
        waiters.start([&a = a, &writing, &large] { (void)a.write(io::bytes_of(large), writing); });
        await_waits(runtime, {"data on a socket", "space on a socket"});
        a.close();
        waiters.join();
        EXPECT_EQ(reading, std::errc::operation_canceled);
        EXPECT_EQ(writing, std::errc::operation_canceled);
        (void)a.read_some(scratch(), reading);
        EXPECT_EQ(reading, std::errc::bad_file_descriptor);
        EXPECT_EQ(a.native_handle(), -1);
    });
}

// The first step of each call has transferred its part. The close may meet a call while it waits,
// or between two steps: the error is the same. Calls that begin later have another one.
TEST_P(io_waits, close_ends_calls_of_several_steps_with_one_error) {
    runtime.run([] {
        for (int i = 0; i < 200; ++i) {
            auto [a, b] = io::socket_pair();
            a.send_buffer(4096);
            const std::string large(300'000, 'x');
            std::error_code writing, later;
            const bool in_parts = i % 2 != 0;
            sennit::nursery both;
            both.start([&, &a = a] {
                const std::array<io::const_bytes, 2> list{io::bytes_of(large), io::bytes_of(large)};
                if (in_parts)
                    (void)a.write_parts(list, writing);
                else
                    (void)a.write(io::bytes_of(large), writing);
            });
            both.start([&, &a = a, &b = b] {
                std::array<std::byte, 1000> some{};
                (void)b.read_some(some); // The write is under way.
                for (int k = 0; k < i % 40; ++k) (void)b.read_some(some);
                a.close();
            });
            both.join();
            EXPECT_EQ(writing, std::errc::operation_canceled);
            (void)a.write(io::bytes_of(large), later);
            EXPECT_EQ(later, std::errc::bad_file_descriptor);
        }
    });
}

TEST_P(io_waits, cancel_ends_waits_and_leaves_the_stream_open) {
    runtime.run([] {
        auto [a, b] = io::socket_pair();
        std::error_code failed;
        std::atomic<bool> ended{false};
        sennit::nursery waiter;
        waiter.start([&b = b, &failed, &ended] {
            (void)b.read_some(scratch(), failed);
            ended = true;
        });
        while (!ended) {
            b.cancel();
            sennit::this_fiber::yield();
        }
        waiter.join();
        EXPECT_EQ(failed, std::errc::operation_canceled);
        a.write("open");
        EXPECT_EQ(read_text(b, 4), "open");
    });
}

// Streams are closed with events on their way, and the numbers and records are used again.
TEST_P(io_waits, stale_events_reach_no_later_stream) {
    runtime.run([] {
        for (int i = 0; i < 300; ++i) {
            auto [a, b] = io::socket_pair();
            sennit::nursery reader;
            reader.start([&b = b] {
                std::error_code unused;
                (void)b.read_some(scratch(), unused);
            });
            sennit::this_fiber::yield();
            a.write("x");
            b.close();
            auto [c, d] = io::socket_pair();
            d.timeout(10s);
            reader.join();
            c.write("new");
            EXPECT_EQ(read_text(d, 3), "new");
        }
    });
}

// Several strands read one stream: each unit reaches one of them, and none sleeps on.
TEST_P(io_waits, several_readers_share_a_stream) {
    runtime.run([] {
        auto [a, b] = io::socket_pair();
        std::atomic<int> got{0};
        sennit::nursery readers;
        for (int i = 0; i < 5; ++i)
            readers.start([&b = b, &got] {
                std::array<std::byte, 1> one{};
                while (b.read_some(one) != 0) ++got;
            });
        for (int i = 0; i < 500; ++i) a.write("ab");
        a.close();
        readers.join();
        EXPECT_EQ(got, 1000);
    });
}

TEST_P(io_waits, several_strands_accept) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        std::atomic<int> served{0};
        sennit::nursery acceptors;
        for (int i = 0; i < 4; ++i)
            acceptors.start([&] {
                std::error_code failed;
                for (;;) {
                    io::tcp_stream peer = door.accept(failed);
                    if (failed) return;
                    peer.write("1");
                    ++served;
                }
            });
        sennit::nursery clients({.limit = 8});
        for (int i = 0; i < 100; ++i)
            clients.start([&] {
                io::tcp_stream one = io::tcp_stream::connect(door.local());
                EXPECT_EQ(read_rest(one), "1");
            });
        clients.join();
        door.close();
        acceptors.join();
        EXPECT_EQ(served, 100);
    });
}

TEST_P(io_waits, borrowed_descriptor_is_watched_and_stays_open) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
    runtime.run([&] {
        for (int i = 0; i < 3; ++i) {
            io::borrowed from(ends[0]), to(ends[1]);
            to.wait_writable();
            sennit::nursery writer;
            writer.start([&] { EXPECT_EQ(::write(ends[1], "ab", 2), 2); });
            from.wait_readable();
            char one = 0;
            EXPECT_EQ(::read(ends[0], &one, 1), 1);
            from.wait_readable(); // A byte is left, and no event comes for it.
            EXPECT_EQ(::read(ends[0], &one, 1), 1);
            writer.join();
        }
    });
    EXPECT_EQ(::close(ends[0]) + ::close(ends[1]), 0);
}

// The event set of another loop is a descriptor, too. Events of all of its members end waits.
TEST_P(io_waits, the_event_set_of_another_loop_is_watched) {
    const int set = ::epoll_create1(EPOLL_CLOEXEC);
    const int first = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    const int second = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    for (const int event : {first, second}) {
        epoll_event interest{};
        interest.events = EPOLLIN;
        interest.data.fd = event;
        ASSERT_EQ(::epoll_ctl(set, EPOLL_CTL_ADD, event, &interest), 0);
    }
    runtime.run([&] {
        constexpr int rounds = 50;
        sennit::counting_semaphore<> may_tell(1);
        sennit::nursery teller;
        teller.start([&] {
            for (int i = 0; i < rounds; ++i) {
                may_tell.acquire();
                EXPECT_EQ(::eventfd_write(i % 2 ? second : first, 1), 0);
            }
        });
        io::borrowed events(set);
        for (int told = 0; told < rounds;) {
            events.wait_readable();
            epoll_event found{};
            while (::epoll_wait(set, &found, 1, 0) == 1) {
                eventfd_t value = 0;
                ASSERT_EQ(::eventfd_read(found.data.fd, &value), 0);
                ++told;
                may_tell.release();
            }
        }
        teller.join();
    });
    EXPECT_EQ(::close(set) + ::close(first) + ::close(second), 0);
}

TEST_P(io_waits, released_descriptor_stays_open) {
    runtime.run([] {
        auto [a, b] = io::socket_pair();
        const int number = b.release();
        EXPECT_FALSE(b.is_open());
        a.write("x");
        char one = 0;
        EXPECT_EQ(::read(number, &one, 1), 1);
        EXPECT_EQ(::close(number), 0);
    });
}

// A worker computes for long with the event of another stream pending.
TEST_P(io_waits, fiber_that_yields_starves_no_stream) {
    runtime.run([] {
        auto [a, b] = io::socket_pair();
        std::atomic<bool> served{false};
        sennit::nursery others;
        others.start([&b = b, &served] {
            EXPECT_EQ(read_text(b, 1), "x");
            served = true;
        });
        sennit::this_fiber::yield();
        a.write("x");
        while (!served) sennit::this_fiber::yield();
        others.join();
    });
}

// The worker that waited for events runs a task that blocks its thread until another stream's
// event was delivered. With one worker, the watchdog's spare worker delivers it.
TEST_P(io_waits, stuck_worker_keeps_back_no_event) {
    runtime.run([] {
        auto [a, b] = io::socket_pair();
        auto [c, d] = io::socket_pair();
        std::atomic<bool> second{false};
        sennit::nursery readers;
        readers.start([&b = b, &second] {
            EXPECT_EQ(read_text(b, 1), "1");
            while (!second) std::this_thread::yield(); // Blocks the worker.
        });
        readers.start([&d = d, &second] {
            EXPECT_EQ(read_text(d, 1), "2");
            second = true;
        });
        sennit::this_fiber::yield();
        std::thread outside([&a = a, &c = c] {
            a.write("1");
            std::this_thread::sleep_for(5ms); // The first reader blocks its worker by now.
            c.write("2");
        });
        readers.join();
        outside.join();
    });
}

TEST(io_and_deadlocks, waiting_stream_is_no_deadlock) {
    EXPECT_EQ(status_of_child_in_time([] {
                  sennit::runtime two({.workers = 2});
                  two.run([] {
                      auto [a, b] = io::socket_pair();
                      b.timeout(700ms); // Longer than two looks of the detector.
                      std::error_code failed;
                      (void)b.read_some(scratch(), failed);
                      EXPECT_EQ(failed, std::errc::timed_out);
                  });
                  return 0;
              }),
              0);
}

TEST(io_and_deadlocks, deadlock_beside_idle_stream_is_reported) {
#if defined(SENNIT_THREAD_SANITIZER) || defined(SENNIT_EMULATED)
    GTEST_SKIP() << "in this build the process has threads that the program did not create";
#endif
    EXPECT_EQ(status_of_child_in_time([] {
                  sennit::runtime two({.workers = 2});
                  auto [a, b] = io::socket_pair();
                  two.run([&a = a, &b = b] {
                      sennit::nursery reader;
                      reader.start([&] { EXPECT_EQ(read_text(b, 1), "x"); }); // Registers it.
                      sennit::this_fiber::yield();
                      a.write("x");
                      reader.join();
                      sennit::channel<int> never(0);
                      (void)never.pop();
                  });
                  return 0;
              }),
              70);
}

// A look would come after each park. The worker parks in each round, and never looks.
TEST(io_and_deadlocks, worker_at_rest_beside_waiting_stream_never_looks) {
    EXPECT_EQ(status_of_child_in_time([] {
                  static std::atomic<int> looks{0};
                  auto [a, b] = io::socket_pair();
                  const int own = a.release(); // This thread blocks outside the library.
                  sennit::runtime one({.workers = 1, .search_time = 0ns});
                  sennit::fiber echo({.runtime = &one}, [&b = b] {
                      std::array<std::byte, 1> byte{};
                      while (b.read_some(byte) == 1) b.write(byte);
                  });
                  const auto exchange = [own] {
                      char byte = 'x';
                      pollfd answer{own, POLLIN, 0};
                      return ::write(own, &byte, 1) == 1 && ::poll(&answer, 1, -1) == 1 &&
                             ::read(own, &byte, 1) == 1;
                  };
                  EXPECT_TRUE(exchange()); // From here on a strand waits whenever the worker parks.
                  sennit::sched::deadlock_detector::set_test_interval(1,
                                                                      []() noexcept { ++looks; });
                  const auto before = one.metrics().parks;
                  while (one.metrics().parks < before + 20)
                      if (!exchange()) return 1;
                  EXPECT_EQ(looks.load(), 0);
                  ::close(own);
                  echo.join();
                  return 0;
              }),
              0);
}

TEST(io_and_fork, child_uses_inherited_stream_with_its_own_runtime) {
#ifdef SENNIT_THREAD_SANITIZER
    GTEST_SKIP() << "ThreadSanitizer allows no new threads in a child of fork()";
#endif
    auto [a, b] = io::socket_pair();
    sennit::runtime two({.workers = 2});
    two.run([&a = a, &b = b] {
        sennit::nursery reader;
        reader.start([&] { EXPECT_EQ(read_text(b, 1), "1"); });
        sennit::this_fiber::yield();
        a.write("1");
        reader.join();
    });
    EXPECT_EQ(status_of_child_in_time([&a = a, &b = b] {
                  sennit::runtime own({.workers = 1});
                  std::string text;
                  own.run([&] {
                      sennit::nursery reader;
                      reader.start([&] { text = read_text(b, 5); });
                      sennit::this_fiber::yield();
                      a.write("child");
                      reader.join();
                  });
                  return text == "child" ? 0 : 1;
              }),
              0);
    two.run([&a = a, &b = b] {
        a.write("2");
        EXPECT_EQ(read_text(b, 1), "2");
    });
}

// Starts the default runtime, whose threads live on. ThreadSanitizer allows no new threads in a
// child of such a process, so this test comes behind those that fork.
TEST(io_limits_of_threads, limit_of_a_thread_and_of_a_task_end_their_waits) {
    auto [a, b] = io::socket_pair();
    b.timeout(2ms);
    for (int i = 0; i < 3; ++i)
        expect_timeout_after(2ms, [&](auto& failed) { return b.read_some(scratch(), failed); });
    scratch space;
    const auto start = std::chrono::steady_clock::now();
    EXPECT_THROW((void)sennit::block_on(b.async_read_some(space)), io::error);
    EXPECT_GE(std::chrono::steady_clock::now() - start, 2ms);
}

} // namespace
