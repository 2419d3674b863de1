// SPDX-License-Identifier: Apache-2.0
// Descriptors as cases of select, mixed with channels and times.
#include "support.hpp"

#include <sennit/async_select.hpp>
#include <sennit/channel.hpp>
#include <sennit/fiber.hpp>
#include <sennit/select.hpp>
#include <sennit/task.hpp>
#include <sennit/waituntil.hpp>

#include <signal.h>

#include <atomic>
#include <chrono>
#include <stop_token>
#include <string>

namespace {

using namespace std::chrono_literals;

class selects : public with_workers {};
SENNIT_IO_FOR_WORKERS(selects);

constexpr auto nothing = [] {};
constexpr auto ignore_error = [](std::error_code) {};

TEST_P(selects, ready_case_happens_without_a_wait) {
    runtime.run([] {
        auto [mine, theirs] = tcp_pair();
        EXPECT_EQ(sennit::select(io::on_readable(mine, nothing), sennit::otherwise(nothing)), 1u);
        EXPECT_EQ(sennit::select(io::on_writable(mine, nothing), sennit::otherwise(nothing)), 0u);
        theirs.write("x");
        sennit::select(io::on_readable(mine, [&] { EXPECT_EQ(read_text(mine, 1), "x"); }));
        theirs.close(); // The end is readable.
        sennit::select(io::on_readable(mine, [&] { EXPECT_EQ(read_rest(mine), ""); }));
    });
}

TEST_P(selects, stream_and_channel_and_time_take_turns) {
    runtime.run([] {
        auto [mine, theirs] = tcp_pair();
        sennit::channel<int> numbers(1);
        int read = 0, popped = 0, timed = 0;
        const auto next = [&] {
            return sennit::select(io::on_readable(mine, [&] { read += read_text(mine, 1) == "x"; }),
                                  sennit::on_pop(numbers, [&](int n) { popped += n; }),
                                  sennit::after(1ms, [&] { ++timed; }));
        };
        while (next() != 2) { // The time.
        }
        for (int i = 0; i < 50; ++i) {
            sennit::fiber peer([&, i] {
                if (i % 2 == 0)
                    theirs.write("x");
                else
                    numbers.push(1);
            });
            while (next() == 2) {
            }
            peer.join();
        }
        EXPECT_EQ(read, 25);
        EXPECT_EQ(popped, 25);
        EXPECT_GE(timed, 1);
    });
}

TEST_P(selects, tasks_select_descriptors) {
    runtime.run([] {
        auto [mine, theirs] = tcp_pair();
        sennit::channel<int> numbers(1);
        sennit::nursery all;
        std::atomic<int> read{0};
        all.start([](io::tcp_stream& from, sennit::channel<int>& other,
                     std::atomic<int>& count) -> sennit::task<void> {
            for (bool open = true; open;) {
                const std::size_t which =
                    co_await sennit::async_select(io::on_readable(from, nothing),
                                                  sennit::on_pop(
                                                      other, [](int) {}, [&] { open = false; }),
                                                  sennit::after(1h, nothing));
                if (which != 0) continue;
                std::array<std::byte, 1> one;
                co_await from.async_read(one);
                ++count;
            }
        }(mine, numbers, read));
        for (int i = 0; i < 100; ++i) {
            theirs.write("x");
            if (i % 3 == 0) sennit::this_fiber::yield();
            if (i % 7 == 0) numbers.push(i);
        }
        while (read < 100) sennit::this_fiber::yield();
        numbers.close();
        all.join();
        EXPECT_EQ(read, 100);
    });
}

TEST_P(selects, accept_takes_each_connection_once) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        sennit::channel<int> stop(0);
        std::atomic<int> accepted{0};
        sennit::nursery all;
        for (int i = 0; i < 4; ++i)
            all.start([&] {
                for (bool open = true; open;)
                    sennit::select(io::on_accept(door,
                                                 [&](io::tcp_stream peer) {
                                                     ++accepted;
                                                     peer.write("a");
                                                 }),
                                   sennit::on_pop(stop, [](int) {}, [&] { open = false; }));
            });
        for (int i = 0; i < 50; ++i) {
            io::tcp_stream client = io::tcp_stream::connect(door.local());
            EXPECT_EQ(read_text(client, 1), "a");
        }
        stop.close();
        all.join();
        EXPECT_EQ(accepted, 50);
        std::error_code failed;
        EXPECT_FALSE(door.try_accept(failed).is_open());
        EXPECT_EQ(failed, std::errc::operation_would_block);
    });
}

TEST_P(selects, close_and_cancel_end_a_select) {
    runtime.run([] {
        auto [mine, theirs] = tcp_pair();
        io::tcp_listener door = any_port();
        std::error_code why;
        const auto keep = [&](std::error_code code) { why = code; };
        // `cancel` ends only a wait that has begun, so it is repeated.
        const auto ends = [&](auto wait, auto end) {
            std::atomic<bool> ended{false};
            why.clear();
            sennit::fiber waits([&] {
                wait();
                ended = true;
            });
            do {
                sennit::this_fiber::yield();
                end();
            } while (!ended);
            waits.join();
            EXPECT_TRUE(why == std::errc::operation_canceled ||
                        why == std::errc::bad_file_descriptor)
                << why.message();
        };
        const auto read = [&, &from = mine] {
            sennit::select(io::on_readable(from, nothing, keep), sennit::after(1h, nothing));
        };
        const auto accept = [&] {
            sennit::select(io::on_accept(door, [](io::tcp_stream) {}, keep));
        };
        ends(read, [&, &from = mine] { from.cancel(); });
        EXPECT_EQ(why, std::errc::operation_canceled);
        ends(accept, [&] { door.cancel(); });
        EXPECT_EQ(why, std::errc::operation_canceled);
        ends(read, [&, &from = mine] { from.close(); });
        ends(accept, [&] { door.close(); });
    });
}

TEST_P(selects, closed_handle_fails_at_once) {
    runtime.run([] {
        io::tcp_stream none;
        std::error_code why;
        const auto keep = [&](std::error_code code) { why = code; };
        EXPECT_EQ(sennit::select(io::on_readable(none, nothing, keep), sennit::after(1h, nothing)),
                  0u);
        EXPECT_EQ(why, std::errc::bad_file_descriptor);
        EXPECT_THROW(sennit::select(io::on_readable(none, nothing)), io::error);
    });
}

TEST_P(selects, cancelled_scope_ends_a_select_and_takes_no_byte) {
    runtime.run([] {
        auto [mine, theirs] = tcp_pair();
        EXPECT_THROW(
            sennit::with_timeout(1ms, [&] { sennit::select(io::on_readable(mine, nothing)); }),
            sennit::timed_out);
        theirs.write("x");
        EXPECT_EQ(read_text(mine, 1), "x");
    });
}

// A reader and a select wait for one stream: the reader gets its byte although the select was
// first.
TEST_P(selects, select_passes_readiness_on) {
    runtime.run([] {
        for (int i = 0; i < 20; ++i) {
            auto [mine, theirs] = tcp_pair();
            sennit::nursery all;
            all.start([&, &from = mine] { sennit::select(io::on_readable(from, nothing)); });
            all.start([&, &from = mine] { EXPECT_EQ(read_text(from, 1), "x"); });
            sennit::this_fiber::yield();
            theirs.write("x");
            theirs.close(); // Otherwise the reader could be faster than the select.
            all.join();
        }
    });
}

TEST_P(selects, signals_and_clauses) {
    runtime.run([] {
        io::signals some{SIGUSR1};
        auto [mine, theirs] = tcp_pair();
        ::raise(SIGUSR1);
        int got = 0;
        sennit::select(io::on_signal(some, [&](int which) { got = which; }),
                       sennit::after(1h, nothing));
        EXPECT_EQ(got, SIGUSR1);
        std::stop_source stop;
        sennit::fiber peer([&, &to = theirs] {
            to.write("x");
            stop.request_stop();
        });
        sennit::select(sennit::on_stop(stop.get_token(), nothing), sennit::after(1h, nothing));
        sennit::select(io::on_readable(mine, nothing, ignore_error), sennit::after(1h, nothing));
        peer.join();
    });
}

TEST_P(selects, many_selects_over_many_streams_lose_nothing) {
    runtime.run([] {
        constexpr int streams = 8, bytes_each = 300;
        std::array<std::pair<io::unix_stream, io::unix_stream>, streams> pairs;
        for (auto& one : pairs) one = io::socket_pair();
        std::atomic<int> got{0};
        sennit::nursery all;
        for (int reader = 0; reader < 2; ++reader)
            all.start([&] {
                const auto take = [&](std::size_t i) {
                    return [&, i] {
                        std::array<std::byte, 4> some;
                        std::error_code failed;
                        pairs[i].second.timeout(1ns); // Another reader may be faster.
                        got += static_cast<int>(pairs[i].second.read_some(some, failed));
                    };
                };
                while (got < streams * bytes_each)
                    sennit::select(io::on_readable(pairs[0].second, take(0)),
                                   io::on_readable(pairs[1].second, take(1)),
                                   io::on_readable(pairs[2].second, take(2)),
                                   io::on_readable(pairs[3].second, take(3)),
                                   io::on_readable(pairs[4].second, take(4)),
                                   io::on_readable(pairs[5].second, take(5)),
                                   io::on_readable(pairs[6].second, take(6)),
                                   io::on_readable(pairs[7].second, take(7)));
            });
        for (auto& one : pairs)
            all.start([&to = one.first] {
                for (int i = 0; i < bytes_each; ++i) {
                    to.write("x");
                    if (i % 16 == 0) sennit::this_fiber::yield();
                }
            });
        while (got < streams * bytes_each) sennit::this_fiber::yield();
        for (auto& one : pairs) one.first.close(); // Ends the selects.
        all.join();
        EXPECT_EQ(got, streams * bytes_each);
    });
}

TEST_P(selects, thread_of_the_system_selects) {
    auto [mine, theirs] = tcp_pair();
    theirs.write("x");
    EXPECT_EQ(sennit::select(io::on_readable(mine, nothing), sennit::after(1h, nothing)), 0u);
}

} // namespace
