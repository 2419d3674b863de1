// SPDX-License-Identifier: Apache-2.0
// Boost.Beast over sync_stream: HTTP requests and answers, in fibers.
#include "support.hpp"

#include <boost/beast/http.hpp>

#include <string>

namespace {

namespace http = beast::http;

struct beast_http_in : with_workers {};
INSTANTIATE_TEST_SUITE_P(workers, beast_http_in, testing::Values(1u, 3u));

// Answers requests until the peer closes. Returns their number.
template <class Stream>
int answer_requests(Stream& peer) {
    beast::flat_buffer buffer;
    for (int answered = 0;; ++answered) {
        http::request<http::string_body> request;
        boost::system::error_code failed;
        http::read(peer, buffer, request, failed);
        if (failed == http::error::end_of_stream) return answered;
        if (failed) throw boost::system::system_error(failed);
        http::response<http::string_body> answer(http::status::ok, request.version());
        answer.keep_alive(request.keep_alive());
        answer.body() = std::string(request.target()) + ": " + request.body();
        answer.prepare_payload();
        http::write(peer, answer);
    }
}

template <class Stream>
std::string ask(Stream& server, const std::string& target, const std::string& body) {
    http::request<http::string_body> request(http::verb::post, target, 11);
    request.set(http::field::host, "test");
    request.body() = body;
    request.prepare_payload();
    http::write(server, request);
    beast::flat_buffer buffer;
    http::response<http::string_body> answer;
    http::read(server, buffer, answer);
    EXPECT_EQ(answer.result(), http::status::ok);
    return answer.body();
}

TEST_P(beast_http_in, clients_keep_their_connections) {
    static constexpr int clients = 20, requests = 10;
    runtime.run([] {
        io::tcp_listener door(io::endpoint("127.0.0.1:0"));
        sennit::nursery all;
        all.start([&] {
            for (int i = 0; i < clients; ++i)
                all.start([peer = door.accept()]() mutable {
                    sync_stream stream(peer);
                    EXPECT_EQ(answer_requests(stream), requests);
                });
        });
        for (int i = 0; i < clients; ++i)
            all.start([&, i] {
                sync_stream server(io::tcp_stream::connect(door.local()));
                for (int j = 0; j < requests; ++j) {
                    const std::string target = "/" + std::to_string(i), body(1u << j, 'b');
                    EXPECT_EQ(ask(server, target, body), target + ": " + body);
                }
            });
        all.join();
    });
}

TEST_P(beast_http_in, a_message_that_is_cut_off_is_an_error) {
    runtime.run([] {
        auto [mine, theirs] = io::socket_pair();
        sync_stream peer(mine);
        theirs.write("POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nhalf");
        theirs.close();
        beast::flat_buffer buffer;
        http::request<http::string_body> request;
        boost::system::error_code failed;
        http::read(peer, buffer, request, failed);
        EXPECT_EQ(failed, http::error::partial_message);
    });
}

TEST_P(beast_http_in, a_limit_ends_the_read_of_a_request) {
    runtime.run([] {
        auto [mine, theirs] = io::socket_pair();
        sync_stream peer(mine);
        mine.timeout(std::chrono::milliseconds(1));
        theirs.write("GET / HTT");
        beast::flat_buffer buffer;
        http::request<http::string_body> request;
        boost::system::error_code failed;
        http::read(peer, buffer, request, failed);
        EXPECT_EQ(failed, net::error::timed_out);
    });
}

#ifdef SENNIT_TEST_TLS
TEST_P(beast_http_in, https_works_over_the_streams_of_sennit) {
    runtime.run([] {
        auto [mine, theirs] = io::socket_pair();
        sennit::fiber server([&] {
            sync_stream peer(tls::stream::accept(std::move(theirs), server_context()));
            EXPECT_EQ(answer_requests(peer), 2);
        });
        sync_stream own(tls::stream::connect(std::move(mine), "server.test", client_context()));
        EXPECT_EQ(ask(own, "/a", "1"), "/a: 1");
        const std::string large(100'000, 'l');
        EXPECT_EQ(ask(own, "/b", large), "/b: " + large);
        own.next_layer().shutdown_write();
        server.join();
    });
}

TEST_P(beast_http_in, a_connection_over_tls_that_is_cut_off_is_an_error) {
    runtime.run([] {
        auto [mine, theirs] = io::socket_pair();
        sennit::fiber server([&] {
            sync_stream peer(tls::stream::accept(std::move(theirs), server_context()));
            try {
                (void)answer_requests(peer);
                ADD_FAILURE() << "the end without a notice was taken for an end";
            } catch (const boost::system::system_error& failed) {
                EXPECT_EQ(failed.code(), sennit::asio::errors::converted(tls::errc::truncated));
                EXPECT_NE(failed.code().message(), "");
            }
        });
        {
            sync_stream own(tls::stream::connect(std::move(mine), "server.test", client_context()));
            EXPECT_EQ(ask(own, "/a", "1"), "/a: 1");
        }
        server.join();
    });
}
#endif

} // namespace
