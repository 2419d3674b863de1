// SPDX-License-Identifier: Apache-2.0
// Datagrams over UDP and Unix addresses.
#include "support.hpp"

#include <sennit/fiber.hpp>
#include <sennit/io/select.hpp>
#include <sennit/select.hpp>
#include <sennit/task.hpp>

#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <string_view>

namespace {

using namespace std::chrono_literals;

class datagrams : public with_workers {};
SENNIT_IO_FOR_WORKERS(datagrams);

io::udp_socket local_socket() {
    return io::udp_socket(io::endpoint("127.0.0.1:0"));
}
std::string_view text_of(const std::array<std::byte, 64>& buffer, const io::datagram& got) {
    // SAFETY: bytes are read as characters.
    return {reinterpret_cast<const char*>(buffer.data()), got.size};
}

TEST_P(datagrams, arrive_whole_with_their_sender) {
    runtime.run([] {
        io::udp_socket a = local_socket(), b = local_socket();
        std::array<std::byte, 64> buffer;
        a.send_to("hello", b.local());
        a.send_to("", b.local());
        const io::datagram got = b.receive_from(buffer);
        EXPECT_EQ(text_of(buffer, got), "hello");
        EXPECT_EQ(got.from, a.local());
        EXPECT_FALSE(got.truncated());
        EXPECT_EQ(b.receive_from(buffer).sent, 0u);
        sennit::fiber waits([&] {
            std::array<std::byte, 64> into;
            const io::datagram answer = a.receive_from(into);
            EXPECT_EQ(text_of(into, answer), "back");
        });
        sennit::this_fiber::yield();
        b.send_to("back", got.from);
        waits.join();
    });
}

TEST_P(datagrams, truncation_is_told) {
    runtime.run([] {
        io::udp_socket a = local_socket(), b = local_socket();
        a.send_to("0123456789", b.local());
        a.send_to("next", b.local());
        std::array<std::byte, 4> few;
        const io::datagram cut = b.receive_from(few);
        EXPECT_TRUE(cut.truncated());
        EXPECT_EQ(cut.size, 4u);
        EXPECT_EQ(cut.sent, 10u);
        EXPECT_FALSE(b.receive_from(few).truncated());
        const std::string large(70'000, 'x');
        std::error_code failed;
        a.send_to(io::bytes_of(large), b.local(), failed);
        EXPECT_EQ(failed, std::errc::message_size);
    });
}

TEST_P(datagrams, connected_sockets_hear_only_their_peer) {
    runtime.run([] {
        io::udp_socket server = local_socket(), stranger = local_socket();
        io::udp_socket client = io::udp_socket::connected(server.local());
        EXPECT_EQ(client.remote(), server.local());
        stranger.send_to("no", client.local());
        client.send("yes");
        std::array<std::byte, 64> buffer;
        const io::datagram got = server.receive_from(buffer);
        EXPECT_EQ(text_of(buffer, got), "yes");
        server.send_to("answer", got.from);
        const io::datagram answer = client.receive_from(buffer);
        EXPECT_EQ(text_of(buffer, answer), "answer");
        EXPECT_THROW((void)server.remote(), io::error);
    });
}

TEST_P(datagrams, refusal_is_an_error_of_a_later_call) {
    runtime.run([] {
        const io::endpoint gone = local_socket().local();
        io::udp_socket client = io::udp_socket::connected(gone);
        client.send("x");
        std::array<std::byte, 64> buffer;
        std::error_code failed;
        (void)client.receive_from(buffer, failed);
        EXPECT_EQ(failed, std::errc::connection_refused);
    });
}

TEST_P(datagrams, limits_and_close_end_a_wait) {
    runtime.run([] {
        io::udp_socket a = local_socket();
        std::array<std::byte, 64> buffer;
        std::error_code failed;
        a.timeout(1ms);
        (void)a.receive_from(buffer, failed);
        EXPECT_EQ(failed, std::errc::timed_out);
        a.no_timeout();
        sennit::fiber waits([&] { EXPECT_THROW((void)a.receive_from(buffer), io::error); });
        sennit::this_fiber::yield();
        a.close();
        waits.join();
        io::udp_socket none;
        EXPECT_THROW(none.send("x"), io::error);
        EXPECT_THROW(io::udp_socket(io::endpoint("192.0.2.1:1")), io::error);
    });
}

TEST_P(datagrams, tasks_and_selects) {
    runtime.run([] {
        io::udp_socket a = local_socket(), b = local_socket();
        sennit::nursery all;
        all.start([](io::udp_socket& from) -> sennit::task<void> {
            std::array<std::byte, 64> buffer;
            const io::datagram got = co_await from.async_receive_from(buffer);
            co_await from.async_send_to(std::span(buffer).first(got.size), got.from);
        }(b));
        sennit::this_fiber::yield();
        a.send_to("echo", b.local());
        std::array<std::byte, 64> buffer;
        sennit::select(io::on_readable(a,
                                       [&] {
                                           const io::datagram got = a.receive_from(buffer);
                                           EXPECT_EQ(text_of(buffer, got), "echo");
                                       }),
                       sennit::after(1h, [] { FAIL(); }));
        all.join();
    });
}

TEST_P(datagrams, unix_addresses) {
    runtime.run([] {
        const std::string name =
            "unix:@sennit-datagram-" + std::to_string(::getpid()) + std::to_string(GetParam());
        io::datagram_socket server{io::endpoint(name)};
        io::datagram_socket client = io::datagram_socket::connected(io::endpoint(name));
        client.send("local");
        std::array<std::byte, 64> buffer;
        const io::datagram got = server.receive_from(buffer);
        EXPECT_EQ(text_of(buffer, got), "local");
    });
}

TEST_P(datagrams, buffers_and_a_shared_port) {
    runtime.run([] {
        io::udp_socket first(io::endpoint("127.0.0.1:0"), {.reuse_port = true, .broadcast = true});
        io::udp_socket second(first.local(), {.reuse_port = true});
        first.send_buffer(65536);
        second.receive_buffer(65536);
        EXPECT_THROW(io::udp_socket(first.local()), io::error);
    });
}

} // namespace
