// SPDX-License-Identifier: Apache-2.0
// Streams over TLS: bytes, ends and limits.
#include "support.hpp"

#include <sennit/block_on.hpp>
#include <sennit/latch.hpp>
#include <sennit/with_timeout.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace {

using namespace std::chrono_literals;

class tls_streams : public with_workers {};
SENNIT_FOR_WORKERS(tls_streams);

TEST_P(tls_streams, bytes_go_both_ways) {
    runtime.run([] {
        handshake both = shake(client_context(), server_context());
        ASSERT_TRUE(both.client && both.server) << both.text;
        both.client->write("question");
        EXPECT_EQ(read_text(*both.server, 8), "question");
        both.server->write("answer");
        both.server->shutdown_write();
        EXPECT_EQ(read_rest(*both.client), "answer");
        EXPECT_EQ(both.client->version(), "TLSv1.3");
        EXPECT_FALSE(both.client->cipher().empty());
        EXPECT_EQ(both.server->server_name(), "server.test");
        EXPECT_EQ(both.client->peer_subject(), "CN=server.test");
        EXPECT_EQ(both.client->alpn(), "");
        // The other direction is open still.
        both.client->write("thanks");
        both.client->shutdown_write();
        EXPECT_EQ(read_rest(*both.server), "thanks");
    });
}

// Two fibers use each stream: one reads, one writes, more than the buffers of the system hold.
TEST_P(tls_streams, reader_and_writer_use_a_stream_at_once) {
    runtime.run([] {
        handshake both = shake(client_context(), server_context());
        ASSERT_TRUE(both.client && both.server) << both.text;
        const std::string text = long_text(3'000'000);
        std::string of_client, of_server;
        sennit::nursery four;
        for (tls::stream* one : {&*both.client, &*both.server})
            four.start([&, one] {
                one->write(text);
                one->shutdown_write();
            });
        four.start([&] { of_client = read_rest(*both.client); });
        four.start([&] { of_server = read_rest(*both.server); });
        four.join();
        EXPECT_TRUE(of_client == text);
        EXPECT_TRUE(of_server == text);
    });
}

TEST_P(tls_streams, tasks_have_the_same_calls) {
    runtime.run([] {
        auto [mine, theirs] = tcp_pair();
        const tls::context of_client = client_context().alpn({"a", "b"});
        const tls::context of_server = server_context().alpn({"b"});
        const std::string text = long_text(300'000);
        const auto serve = [](io::tcp_stream over, tls::context with,
                              std::size_t size) -> sennit::task<std::string> {
            tls::stream peer = co_await tls::stream::async_accept(std::move(over), with);
            std::string got(size, '\0');
            co_await peer.async_read(std::as_writable_bytes(std::span(got)));
            co_await peer.async_write(io::bytes_of(got));
            co_await peer.async_shutdown_write();
            co_return got;
        };
        const auto ask = [](io::tcp_stream over, tls::context with,
                            const std::string& what) -> sennit::task<std::string> {
            tls::stream peer =
                co_await tls::stream::async_connect(std::move(over), "server.test", with);
            EXPECT_EQ(peer.alpn(), "b");
            co_await peer.async_write(io::bytes_of(what));
            std::string got(what.size(), '\0');
            co_await peer.async_read(std::as_writable_bytes(std::span(got)));
            std::array<std::byte, 1> none{};
            EXPECT_EQ(co_await peer.async_read_some(none), 0u);
            co_return got;
        };
        sennit::nursery both;
        both.start([&, &over = theirs] {
            EXPECT_TRUE(sennit::block_on(serve(std::move(over), of_server, text.size())) == text);
        });
        EXPECT_TRUE(sennit::block_on(ask(std::move(mine), of_client, text)) == text);
        both.join();
    });
}

// ---- ends

TEST_P(tls_streams, end_without_notice_is_an_error) {
    runtime.run([] {
        handshake both = shake(client_context(), server_context());
        ASSERT_TRUE(both.client && both.server) << both.text;
        both.client->write("all?");
        both.client->lower()->shutdown_write();
        EXPECT_EQ(read_text(*both.server, 4), "all?");
        std::array<std::byte, 1> none{};
        std::error_code failed;
        EXPECT_EQ(both.server->read_some(none, failed), 0u);
        EXPECT_EQ(failed, tls::errc::truncated);
        EXPECT_THROW((void)both.server->read_some(none), io::error);
    });
}

// Carries the bytes of the client to the server, except for the last ones.
TEST_P(tls_streams, truncated_record_is_an_error) {
    runtime.run([] {
        auto [client, near] = tcp_pair();
        auto [far, server] = tcp_pair();
        sennit::nursery all;
        std::optional<tls::stream> one;
        sennit::latch accepted(1);
        all.start([&, &over = server] {
            one = tls::stream::accept(std::move(over), server_context());
            accepted.count_down();
        });
        all.start([&, &from = far, &to = near] {
            try {
                io::copy(from, to);
            } catch (const io::error&) { // The test closes the stream.
            }
        });
        std::atomic<bool> cut{false};
        all.start([&, &from = near, &to = far] {
            std::array<std::byte, 4096> buffer{};
            while (const std::size_t n = from.read_some(buffer)) {
                to.write(std::span(buffer).first(cut ? n / 2 : n));
                if (cut) break;
            }
            to.shutdown_write();
        });
        tls::stream mine = tls::stream::connect(std::move(client), "server.test", client_context());
        mine.write("1");
        accepted.wait();
        EXPECT_EQ(read_text(*one, 1), "1");
        cut = true;
        mine.write("this comes in part");
        std::array<std::byte, 100> buffer{};
        std::error_code failed;
        EXPECT_EQ(one->read_some(buffer, failed), 0u);
        EXPECT_EQ(failed, tls::errc::truncated);
        one->close();
        mine.close();
        all.join();
    });
}

TEST_P(tls_streams, other_bytes_than_tls_are_an_error) {
    runtime.run([] {
        auto [mine, theirs] = tcp_pair();
        mine.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        try {
            (void)tls::stream::accept(std::move(theirs), server_context());
            ADD_FAILURE();
        } catch (const io::error& failed) {
            EXPECT_EQ(failed.code(), tls::errc::protocol);
            EXPECT_STREQ(failed.operation(), "tls::accept");
            EXPECT_NE(std::string(failed.what()).find("OpenSSL: http request"), std::string::npos)
                << failed.what();
        }
    });
}

// ---- limits

TEST_P(tls_streams, handshake_has_a_limit) {
    runtime.run([] {
        auto [mine, theirs] = tcp_pair();
        try {
            (void)tls::stream::accept(std::move(theirs), server_context(), {.limit = 1ms});
            ADD_FAILURE();
        } catch (const io::error& failed) {
            EXPECT_EQ(failed.code(), std::errc::timed_out);
        }
        auto [client, silent] = tcp_pair();
        const auto ask = [](io::tcp_stream over) -> sennit::task<void> {
            (void)co_await tls::stream::async_connect(std::move(over), "server.test",
                                                      client_context(), {.limit = 1ms});
        };
        EXPECT_THROW(sennit::block_on(ask(std::move(client))), io::error);
    });
}

TEST_P(tls_streams, cancelled_nursery_ends_a_handshake) {
    runtime.run([] {
        auto [mine, theirs] = tcp_pair();
        std::atomic<bool> cancelled{false};
        sennit::latch begun(1);
        sennit::nursery one;
        one.start([&, &over = theirs] {
            begun.count_down();
            try {
                (void)tls::stream::accept(std::move(over), server_context());
            } catch (const sennit::cancelled&) {
                cancelled = true;
                throw;
            }
        });
        begun.wait();
        one.cancel();
        one.join();
        EXPECT_TRUE(cancelled);
    });
}

TEST_P(tls_streams, cancelled_read_loses_no_byte) {
    runtime.run([] {
        handshake both = shake(client_context(), server_context());
        ASSERT_TRUE(both.client && both.server) << both.text;
        std::array<std::byte, 4> buffer{};
        for (int i = 0; i < 3; ++i)
            EXPECT_THROW(sennit::with_timeout(1ms, [&] { both.server->read(buffer); }),
                         sennit::timed_out);
        both.server->timeout(1ms);
        std::error_code failed;
        (void)both.server->read_some(buffer, failed);
        EXPECT_EQ(failed, std::errc::timed_out);
        both.server->no_timeout();
        both.client->write("1234");
        EXPECT_EQ(read_text(*both.server, 4), "1234");
    });
}

// A write that was cancelled in the middle: the bytes that OpenSSL has taken go first.
TEST_P(tls_streams, cancelled_write_leaves_the_stream_whole) {
    runtime.run([] {
        handshake both = shake(client_context(), server_context());
        ASSERT_TRUE(both.client && both.server) << both.text;
        both.client->lower()->send_buffer(1);
        const std::string text(20'000'000, 'x');
        EXPECT_THROW(sennit::with_timeout(5ms, [&] { both.client->write(text); }),
                     sennit::timed_out);
        sennit::nursery all;
        all.start([&] {
            both.client->write("end");
            both.client->shutdown_write();
        });
        const std::string got = read_rest(*both.server);
        all.join();
        EXPECT_TRUE(got.ends_with("xend"));
        EXPECT_EQ(got.find_first_not_of('x'), got.size() - 3);
    });
}

TEST_P(tls_streams, close_ends_a_call_that_waits) {
    runtime.run([] {
        handshake both = shake(client_context(), server_context());
        ASSERT_TRUE(both.client && both.server) << both.text;
        std::error_code failed;
        sennit::nursery one;
        sennit::latch begun(1);
        one.start([&] {
            std::array<std::byte, 4> buffer{};
            begun.count_down();
            (void)both.server->read_some(buffer, failed);
        });
        begun.wait();
        both.server->close();
        one.join();
        EXPECT_TRUE(failed == std::errc::operation_canceled ||
                    failed == std::errc::bad_file_descriptor);
        EXPECT_FALSE(both.server->is_open());
    });
}

TEST_P(tls_streams, closed_stream_is_an_error) {
    tls::stream none;
    std::array<std::byte, 4> buffer{};
    std::error_code failed;
    EXPECT_EQ(none.read_some(buffer, failed), 0u);
    EXPECT_EQ(failed, std::errc::bad_file_descriptor);
    EXPECT_THROW(none.write("x"), io::error);
    EXPECT_THROW((void)none.alpn(), io::error);
    EXPECT_FALSE(none.has_buffered());
}

// A server within limits. A client that does not speak TLS is an error of its connection only.
TEST_P(tls_streams, serve_takes_streams_over_tls) {
    runtime.run([] {
        io::tcp_listener door(io::endpoint("127.0.0.1:0"));
        std::atomic<int> errors{0};
        const tls::context with = server_context();
        sennit::nursery all;
        all.start([&] {
            io::serve(door, {.on_error = [&](const io::error&) { ++errors; }},
                      [&](io::tcp_stream& from) {
                          tls::stream peer = tls::stream::accept(std::move(from), with);
                          peer.write(read_text(peer, 2));
                          peer.shutdown_write();
                      });
        });
        io::tcp_stream bad = io::tcp_stream::connect(door.local());
        bad.write("no client hello at all");
        std::array<std::byte, 64> buffer{};
        while (bad.read_some(buffer) != 0) {
        }
        const tls::context of_client = client_context();
        sennit::nursery clients;
        for (int i = 0; i < 10; ++i)
            clients.start([&] {
                tls::stream one = tls::stream::connect(io::tcp_stream::connect(door.local()),
                                                       "server.test", of_client);
                one.write("hi");
                EXPECT_EQ(read_rest(one), "hi");
            });
        clients.join();
        door.close();
        all.join();
        EXPECT_EQ(errors, 1);
    });
}

// Connections that wait without a stack keep their TLS as the state.
TEST_P(tls_streams, connection_over_tls_waits_without_a_stack) {
    runtime.run([] {
        io::tcp_listener door(io::endpoint("127.0.0.1:0"));
        const tls::context with = server_context();
        struct session {
            std::optional<tls::stream> secure;
        };
        sennit::nursery all;
        all.start([&] {
            io::serve_when_readable<session>(door, {}, [&](io::tcp_stream& peer, session& mine) {
                if (!mine.secure) {
                    mine.secure = tls::stream::accept(peer, with);
                    if (!mine.secure->has_buffered()) return io::served::keep;
                }
                do {
                    std::array<std::byte, 7> buffer{}; // A record comes in several parts.
                    const std::size_t n = mine.secure->read_some(buffer);
                    if (n == 0) return io::served::close;
                    mine.secure->write(std::span(buffer).first(n));
                } while (mine.secure->has_buffered());
                return io::served::keep;
            });
        });
        const tls::context of_client = client_context();
        {
            sennit::nursery clients;
            for (int i = 0; i < 10; ++i)
                clients.start([&] {
                    tls::stream one = tls::stream::connect(io::tcp_stream::connect(door.local()),
                                                           "server.test", of_client);
                    for (int k = 0; k < 10; ++k) {
                        const std::string text = long_text(1 + static_cast<std::size_t>(k) * 9);
                        one.write(text);
                        EXPECT_EQ(read_text(one, text.size()), text);
                    }
                    one.shutdown_write();
                    std::array<std::byte, 1> none{};
                    std::error_code failed;
                    (void)one.read_some(none, failed); // The server closes.
                });
            clients.join();
        }
        door.close();
        all.join();
    });
}

} // namespace
