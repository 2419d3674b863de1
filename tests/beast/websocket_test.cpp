// SPDX-License-Identifier: Apache-2.0
// Boost.Beast over sync_stream: WebSockets in fibers.
#include "support.hpp"

#include <boost/beast/websocket.hpp>

#include <string>
#include <utility>

namespace {

namespace websocket = beast::websocket;

struct beast_websocket_in : with_workers {};
INSTANTIATE_TEST_SUITE_P(workers, beast_websocket_in, testing::Values(1u, 3u));

template <class Stream>
void echo(Stream&& over) {
    websocket::stream<sync_stream<Stream>> peer{sync_stream<Stream>(std::move(over))};
    peer.accept();
    for (;;) {
        beast::flat_buffer message;
        boost::system::error_code failed;
        peer.read(message, failed);
        if (failed) {
            EXPECT_EQ(failed, websocket::error::closed);
            return;
        }
        peer.text(peer.got_text());
        peer.write(message.data());
    }
}

template <class Stream>
void talk(Stream&& over) {
    websocket::stream<sync_stream<Stream>> server{sync_stream<Stream>(std::move(over))};
    server.handshake("test", "/");
    for (const std::size_t size : {0u, 1u, 125u, 126u, 70'000u}) {
        const std::string text(size, 'w');
        server.write(net::buffer(text));
        beast::flat_buffer answer;
        server.read(answer);
        EXPECT_EQ(beast::buffers_to_string(answer.data()), text);
    }
    server.close(websocket::close_code::normal);
    EXPECT_FALSE(server.is_open());
}

TEST_P(beast_websocket_in, messages_are_echoed_and_the_connection_is_closed_by_handshake) {
    runtime.run([] {
        io::tcp_listener door(io::endpoint("127.0.0.1:0"));
        sennit::nursery all;
        for (int i = 0; i < 10; ++i) {
            all.start([&] { echo(door.accept()); });
            all.start([&] { talk(io::tcp_stream::connect(door.local())); });
        }
        all.join();
    });
}

TEST_P(beast_websocket_in, a_peer_that_vanishes_is_an_error) {
    runtime.run([] {
        io::tcp_listener door(io::endpoint("127.0.0.1:0"));
        sennit::fiber server([&] {
            websocket::stream<sync_stream<io::tcp_stream>> peer{
                sync_stream<io::tcp_stream>(door.accept())};
            peer.accept();
            beast::flat_buffer message;
            boost::system::error_code failed;
            peer.read(message, failed);
            EXPECT_TRUE(failed);
            EXPECT_NE(failed, websocket::error::closed);
        });
        websocket::stream<sync_stream<io::tcp_stream>> own{
            sync_stream<io::tcp_stream>(io::tcp_stream::connect(door.local()))};
        own.handshake("test", "/");
        own.next_layer().close();
        server.join();
    });
}

#ifdef SENNIT_TEST_TLS
TEST_P(beast_websocket_in, websockets_work_over_tls) {
    runtime.run([] {
        auto [mine, theirs] = io::socket_pair();
        sennit::fiber server(
            [&] { echo(tls::stream::accept(std::move(theirs), server_context())); });
        talk(tls::stream::connect(std::move(mine), "server.test", client_context()));
        server.join();
    });
}
#endif

} // namespace
