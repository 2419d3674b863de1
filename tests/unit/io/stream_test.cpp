// SPDX-License-Identifier: Apache-2.0
// Bytes through TCP, Unix sockets and pipes, from fibers, tasks and threads.
#include "support.hpp"

#include <sennit/fork_join.hpp>
#include <sennit/latch.hpp>

#include <chrono>
#include <thread>

namespace {

using namespace std::chrono_literals;
using sennit::task;

class streams : public with_workers {};
SENNIT_IO_FOR_WORKERS(streams);

TEST_P(streams, reader_waits_for_bytes_of_another_fiber) {
    runtime.run([] {
        auto [a, b] = tcp_pair();
        sennit::nursery both;
        both.start([&b = b] {
            for (int i = 0; i < 100; ++i) {
                EXPECT_EQ(read_text(b, 4), "ping");
                b.write("pong");
            }
        });
        for (int i = 0; i < 100; ++i) {
            a.write("ping");
            EXPECT_EQ(read_text(a, 4), "pong");
        }
        both.join();
    });
}

TEST_P(streams, writer_waits_for_space_and_no_byte_is_lost) {
    runtime.run([] {
        auto [a, b] = io::socket_pair();
        a.send_buffer(4096);
        std::string sent(3'000'000, 'x');
        for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<char>(i * 31 >> 3);
        sennit::nursery both;
        both.start([&a = a, &sent] {
            a.write(sent);
            a.shutdown_write();
        });
        EXPECT_TRUE(read_rest(b) == sent);
        both.join();
    });
}

TEST_P(streams, parts_are_written_in_order) {
    runtime.run([] {
        auto [a, b] = io::socket_pair();
        a.send_buffer(4096);
        const std::string large(300'000, 'l');
        std::vector<io::const_bytes> parts(100, io::bytes_of("ab"));
        parts[50] = io::bytes_of(large);
        sennit::nursery both;
        both.start([&] {
            a.write_parts(parts);
            a.close();
        });
        std::string expected;
        for (const io::const_bytes one : parts)
            expected.append(reinterpret_cast<const char*>(one.data()), one.size());
        EXPECT_TRUE(read_rest(b) == expected);
        both.join();
    });
}

TEST_P(streams, half_closed_stream_still_reads) {
    runtime.run([] {
        auto [a, b] = tcp_pair();
        a.write("question");
        a.shutdown_write();
        EXPECT_EQ(read_rest(b), "question");
        b.write("answer");
        b.close();
        EXPECT_EQ(read_rest(a), "answer");
    });
}

// The end comes with the last bytes, in one event; the short read alone must not hide it.
TEST_P(streams, end_behind_short_read_is_seen) {
    runtime.run([] {
        for (int i = 0; i < 200; ++i) {
            auto [a, b] = io::socket_pair();
            sennit::nursery both;
            both.start([&b = b] {
                std::array<std::byte, 64> buffer{};
                while (b.read_some(buffer) != 0) {
                }
            });
            sennit::this_fiber::yield();
            a.write("1");
            a.close();
            both.join();
        }
    });
}

TEST_P(streams, early_end_is_an_error_of_read) {
    runtime.run([] {
        auto [a, b] = io::socket_pair();
        a.write("abc");
        a.close();
        std::array<std::byte, 8> buffer{};
        std::error_code failed;
        EXPECT_EQ(b.read(buffer, failed), 3u);
        EXPECT_EQ(failed, io::errc::unexpected_end);
        EXPECT_THROW(b.read(buffer), io::error);
    });
}

TEST_P(streams, reset_is_an_error_that_names_the_call) {
    runtime.run([] {
        auto [a, b] = tcp_pair();
        a.abort();
        std::array<std::byte, 8> buffer{};
        try {
            (void)b.read_some(buffer);
            FAIL() << "no error";
        } catch (const io::error& reset) {
            EXPECT_EQ(reset.code(), std::errc::connection_reset);
            EXPECT_STREQ(reset.operation(), "read_some");
        }
        EXPECT_FALSE(a.is_open());
    });
}

TEST_P(streams, write_without_reader_is_an_error_and_no_signal) {
    runtime.run([] {
        auto [from, to] = io::make_pipe();
        from.close();
        std::error_code failed;
        (void)to.write(io::bytes_of("x"), failed);
        EXPECT_EQ(failed, std::errc::broken_pipe);
        auto [a, b] = io::socket_pair();
        b.close();
        (void)a.write(io::bytes_of("x"), failed);
        EXPECT_EQ(failed, std::errc::broken_pipe);
    });
}

TEST_P(streams, pipe_carries_bytes_both_ends_wait) {
    runtime.run([] {
        auto [from, to] = io::make_pipe();
        const std::string sent(1'000'000, 'p');
        sennit::nursery both;
        both.start([&to = to, &sent] {
            to.write(sent);
            to.close();
        });
        EXPECT_TRUE(read_rest(from) == sent);
        both.join();
    });
}

TEST_P(streams, both_branches_of_a_fork_may_wait) {
    runtime.run([] {
        auto [a, b] = io::socket_pair();
        const auto [text, done] = sennit::fork_join([&b = b] { return read_text(b, 5); },
                                                    [&a = a] {
                                                        sennit::this_fiber::yield();
                                                        a.write("hello");
                                                        return true;
                                                    });
        EXPECT_EQ(text, "hello");
        EXPECT_TRUE(done);
    });
}

task<void> echo_task(io::unix_stream& peer) {
    std::array<std::byte, 512> buffer{};
    while (const std::size_t n = co_await peer.async_read_some(buffer))
        co_await peer.async_write(std::span(buffer).first(n));
}

TEST_P(streams, task_serves_fiber) {
    runtime.run([] {
        auto [a, b] = io::socket_pair();
        sennit::nursery both;
        both.start([&b = b] { sennit::block_on(echo_task(b)); });
        for (int i = 0; i < 50; ++i) {
            a.write("task");
            EXPECT_EQ(read_text(a, 4), "task");
        }
        a.shutdown_write();
        both.join();
    });
}

task<std::string> ask(io::endpoint server) {
    io::tcp_stream peer = co_await io::tcp_stream::async_connect(server);
    co_await peer.async_write(io::bytes_of("?"));
    std::string answer(3, ' ');
    co_await peer.async_read(std::as_writable_bytes(std::span(answer)));
    co_return answer;
}

task<void> answer_one(io::tcp_listener& door) {
    io::tcp_stream peer = co_await door.async_accept();
    std::array<std::byte, 1> question{};
    co_await peer.async_read(question);
    co_await peer.async_write(io::bytes_of("yes"));
}

TEST_P(streams, tasks_connect_and_accept) {
    runtime.run([] {
        io::tcp_listener door = any_port();
        sennit::nursery both;
        both.start([&] { sennit::block_on(answer_one(door)); });
        EXPECT_EQ(sennit::block_on(ask(door.local())), "yes");
        both.join();
    });
}

// Each side may be a fiber or a thread that is no worker.
TEST_P(streams, thread_talks_to_fiber) {
    auto [a, b] = io::socket_pair();
    std::thread outside([&b = b] {
        for (int i = 0; i < 100; ++i) {
            EXPECT_EQ(read_text(b, 2), "go");
            b.write("ok");
        }
    });
    runtime.run([&a = a] {
        for (int i = 0; i < 100; ++i) {
            a.write("go");
            EXPECT_EQ(read_text(a, 2), "ok");
        }
    });
    outside.join();
}

TEST_P(streams, threads_talk_to_each_other) {
    auto [a, b] = io::socket_pair();
    std::thread outside([&b = b] { EXPECT_EQ(read_text(b, 5), "hello"); });
    a.write("hello");
    outside.join();
}

// A stream outlives its runtime, and another one watches it.
TEST_P(streams, stream_changes_runtime) {
    auto [a, b] = io::socket_pair();
    for (int i = 0; i < 3; ++i) {
        sennit::runtime other({.workers = GetParam()});
        other.run([&a = a, &b = b] {
            sennit::nursery both;
            both.start([&b] { EXPECT_EQ(read_text(b, 2), "hi"); });
            sennit::this_fiber::yield();
            a.write("hi");
            both.join();
        });
    }
}

TEST_P(streams, endpoints_have_the_text_that_makes_them) {
    for (const char* text :
         {"127.0.0.1:80", "0.0.0.0:65535", "[::1]:8080", "unix:/run/x", "unix:@a"})
        EXPECT_EQ(io::endpoint(text).to_string(), text);
    for (const char* text : {"", "127.0.0.1", "1.2.3:4", "::1:80", "[::1]", "127.0.0.1:65536",
                             "127.0.0.1:x", "unix:", "localhost:80"})
        EXPECT_FALSE(io::endpoint::parse(text)) << text;
    EXPECT_THROW(io::endpoint("nowhere"), std::invalid_argument);
    EXPECT_EQ(io::endpoint("[::1]:8080").port(), 8080);
    EXPECT_TRUE(io::endpoint("unix:@a").is_unix());
}

} // namespace
