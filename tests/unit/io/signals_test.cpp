// SPDX-License-Identifier: Apache-2.0
// Signals of the process as waits, several listeners, and the end of a server by a signal. The
// tests raise signals in the calling thread: ThreadSanitizer keeps a signal back while its thread
// sleeps.
#include "support.hpp"

#include "../../support/child_process.hpp"

#include <sennit/async_select.hpp>
#include <sennit/detail/base/sanitizers.hpp>
#include <sennit/event.hpp>
#include <sennit/fiber.hpp>
#include <sennit/task.hpp>

#include <signal.h>

#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

class process_signals : public with_workers {};
SENNIT_IO_FOR_WORKERS(process_signals);

struct sigaction action_of(int signal) {
    struct sigaction now{};
    ::sigaction(signal, nullptr, &now);
    return now;
}

TEST_P(process_signals, wait_returns_the_signal) {
    runtime.run([] {
        io::signals some{SIGUSR1, SIGUSR2};
        sennit::fiber sender([] { ::raise(SIGUSR2); });
        EXPECT_EQ(some.wait(), SIGUSR2);
        ::raise(SIGUSR1);
        EXPECT_EQ(sennit::block_on(some.async_wait()), SIGUSR1);
        EXPECT_EQ(some.try_wait(), 0);
        sender.join();
    });
}

TEST_P(process_signals, each_listener_gets_the_signal) {
    runtime.run([] {
        io::signals first{SIGUSR1}, second{SIGUSR1, SIGUSR2}, other{SIGUSR2};
        std::atomic<int> got{0};
        sennit::nursery all;
        all.start([&] { got += first.wait() == SIGUSR1; });
        all.start([&] { got += second.wait() == SIGUSR1; });
        sennit::this_fiber::yield();
        ::raise(SIGUSR1);
        all.join();
        EXPECT_EQ(got, 2);
        EXPECT_EQ(other.try_wait(), 0);
    });
}

TEST_P(process_signals, each_signal_ends_one_wait) {
    runtime.run([] {
        io::signals some{SIGUSR1, SIGUSR2};
        std::atomic<int> sum{0};
        sennit::nursery all;
        for (int i = 0; i < 2; ++i) all.start([&] { sum += some.wait(); });
        sennit::this_fiber::yield();
        ::raise(SIGUSR1);
        ::raise(SIGUSR2);
        all.join();
        EXPECT_EQ(sum, SIGUSR1 + SIGUSR2);
    });
}

TEST_P(process_signals, limits_cancellation_and_close_end_a_wait) {
    runtime.run([] {
        io::signals some{SIGUSR1};
        std::error_code failed;
        some.timeout(1ms);
        EXPECT_EQ(some.wait(failed), 0);
        EXPECT_EQ(failed, std::errc::timed_out);
        some.no_timeout();
        EXPECT_THROW(sennit::with_timeout(1ms, [&] { (void)some.wait(); }), sennit::timed_out);
        sennit::fiber waits([&] { EXPECT_THROW((void)some.wait(), io::error); });
        sennit::this_fiber::yield();
        some.close();
        waits.join();
        EXPECT_THROW((void)some.wait(), io::error);
        io::signals none;
        EXPECT_EQ(none.wait(failed), 0);
        EXPECT_EQ(failed, std::errc::bad_file_descriptor);
    });
}

TEST_P(process_signals, earlier_action_returns_with_the_last_listener) {
    struct sigaction mine{};
    mine.sa_handler = [](int) {};
    ::sigaction(SIGUSR1, &mine, nullptr);
    runtime.run([&] {
        io::signals moved;
        {
            io::signals first{SIGUSR1};
            io::signals second{SIGUSR1};
            moved = std::move(second);
        }
        EXPECT_NE(action_of(SIGUSR1).sa_handler, mine.sa_handler);
        ::raise(SIGUSR1);
        EXPECT_EQ(moved.wait(), SIGUSR1);
        moved = io::signals{SIGUSR2};
        EXPECT_EQ(action_of(SIGUSR1).sa_handler, mine.sa_handler);
    });
    EXPECT_EQ(action_of(SIGUSR2).sa_handler, SIG_DFL);
    ::signal(SIGUSR1, SIG_DFL);
}

TEST_P(process_signals, many_signals_of_many_senders_are_not_lost) {
    runtime.run([] {
        io::signals some{SIGUSR1};
        for (int i = 0; i < 200; ++i) {
            std::thread sender([] { ::raise(SIGUSR1); });
            EXPECT_EQ(some.wait(), SIGUSR1);
            sender.join();
        }
    });
}

TEST_P(process_signals, thread_of_the_system_waits) {
    io::signals some{SIGUSR1};
    std::thread sender([] { ::raise(SIGUSR1); });
    EXPECT_EQ(some.wait(), SIGUSR1);
    sender.join();
}

TEST(process_signals_of_threads, refused_signals_are_errors) {
    for (const int wrong : {SIGKILL, SIGSTOP, SIGSEGV, SIGURG, 0, 1000}) try {
            const io::signals none{SIGUSR1, wrong};
            ADD_FAILURE() << wrong;
        } catch (const io::error& refused) {
            EXPECT_EQ(refused.code(), std::errc::invalid_argument);
        }
    EXPECT_EQ(action_of(SIGUSR1).sa_handler, SIG_DFL);
    std::vector<io::signals> most;
    while (most.size() < 64) most.push_back(io::signals{SIGUSR1});
    EXPECT_THROW(io::signals{SIGUSR1}, io::error);
}

TEST(process_signals_of_threads, child_of_fork_has_listeners_of_its_own) {
#ifdef SENNIT_THREAD_SANITIZER
    GTEST_SKIP() << "ThreadSanitizer allows no new threads in a child of fork()";
#endif
    io::signals parents{SIGUSR1};
    EXPECT_EQ(status_of_child_in_time([] {
                  sennit::runtime one({.workers = 1});
                  return one.run([] {
                      io::signals mine{SIGUSR1};
                      ::raise(SIGUSR1);
                      return mine.wait() == SIGUSR1 ? 0 : 1;
                  });
              }),
              0);
    EXPECT_EQ(parents.try_wait(), 0);
}

TEST(process_signals_of_threads, child_of_fork_without_listener_has_the_default_action) {
#ifdef SENNIT_THREAD_SANITIZER
    GTEST_SKIP() << "ThreadSanitizer drops a signal that its own handler raises";
#endif
    io::signals parents{SIGTERM};
    EXPECT_EQ(status_of_child_in_time([] {
                  ::raise(SIGTERM);
                  return 0;
              }),
              -1); // Ended by the signal.
    EXPECT_EQ(parents.try_wait(), 0);
}

// A handler that waits for a next request ends at the request to stop; the other one finishes its
// work.
TEST_P(process_signals, server_drains_at_a_signal) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        std::stop_source stop;
        sennit::event begun;
        sennit::nursery all;
        all.start([&] {
            io::serve(door, {.drain = 1h, .stop = stop.get_token()}, [&](io::tcp_stream& peer) {
                begun.set();
                peer.write(read_text(peer, 5));
            });
        });
        all.start([&] {
            io::signals some{SIGTERM};
            ::raise(SIGTERM);
            EXPECT_EQ(some.wait(), SIGTERM);
            begun.wait();
            stop.request_stop();
        });
        const io::endpoint at = door.local();
        io::tcp_stream client = io::tcp_stream::connect(at);
        begun.wait();
        std::error_code failed;
        do { // Until the server accepts no more.
            sennit::this_fiber::yield();
            (void)io::tcp_stream::connect(at, failed);
        } while (!failed);
        client.write("hello");
        EXPECT_EQ(read_text(client, 5), "hello");
        all.join();
    });
}

TEST_P(process_signals, stop_before_serve_begins_ends_it) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        std::stop_source stop;
        stop.request_stop();
        io::serve(door, {.stop = stop.get_token()}, [](io::tcp_stream&) {});
        EXPECT_FALSE(door.is_open());
    });
}

} // namespace
