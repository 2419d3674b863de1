// SPDX-License-Identifier: Apache-2.0
// Definitions that the tests of sennit::tls share: contexts, pairs of streams, runtimes with 1 and
// 3 workers.
#pragma once

#include "certificates.hpp"

#include "../support/with_workers.hpp"

#include <sennit/io.hpp>
#include <sennit/nursery.hpp>
#include <sennit/tls.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>

namespace io = sennit::io;
namespace tls = sennit::tls;

inline const certificates::authority& test_authority() {
    static const certificates::authority only;
    return only;
}
inline const certificates::pair& of_server() {
    static const certificates::pair only = test_authority().sign("server.test");
    return only;
}

inline tls::context server_context(const certificates::pair& own = of_server()) {
    return tls::context::server().certificate(own.certificate, own.key);
}
inline tls::context client_context() {
    return tls::context::client().trust(test_authority().certificate());
}

inline std::string read_text(tls::stream& from, std::size_t size) {
    std::string text(size, '\0');
    from.read(std::as_writable_bytes(std::span(text)));
    return text;
}
inline std::string read_rest(tls::stream& from) {
    std::string all;
    std::array<char, 1000> some{};
    while (const std::size_t n = from.read_some(std::as_writable_bytes(std::span(some))))
        all.append(some.data(), n);
    return all;
}
inline std::string long_text(std::size_t size) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i * 7 % 26);
    return text;
}

inline std::pair<io::tcp_stream, io::tcp_stream> tcp_pair() {
    io::tcp_listener door(io::endpoint("127.0.0.1:0"));
    io::tcp_stream client = io::tcp_stream::connect(door.local());
    return {std::move(client), door.accept()};
}

// The errors of the two sides of a handshake; clear: the side has succeeded.
struct handshake {
    std::optional<tls::stream> client, server;
    std::error_code of_client, of_server;
    std::string text; // The text of the client's error.
};

inline handshake shake(const tls::context& client, const tls::context& server,
                       const std::string& host = "server.test") {
    handshake done;
    auto [mine, theirs] = tcp_pair();
    sennit::nursery both;
    both.start([&, &over = theirs] {
        try {
            done.server = tls::stream::accept(std::move(over), server);
        } catch (const io::error& failed) {
            done.of_server = failed.code();
        }
    });
    try {
        done.client = tls::stream::connect(std::move(mine), host, client);
    } catch (const io::error& failed) {
        done.of_client = failed.code();
        done.text = failed.what();
    }
    both.join();
    return done;
}

#define SENNIT_FOR_WORKERS(suite)                                                                  \
    INSTANTIATE_TEST_SUITE_P(, suite, testing::Values(1u, 3u),                                     \
                             [](const testing::TestParamInfo<unsigned>& one) {                     \
                                 return std::to_string(one.param) + "_workers";                    \
                             })
