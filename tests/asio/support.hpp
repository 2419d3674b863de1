// SPDX-License-Identifier: Apache-2.0
// Definitions that the tests of sennit::asio share: the flavour of Asio, runtimes with 1 and 3
// workers, connected sockets, an operation that a test completes.
#pragma once

#include "../support/with_workers.hpp"

#include <sennit/asio.hpp>
#include <sennit/sennit.hpp>

#include <gtest/gtest.h>

#ifdef SENNIT_ASIO_BOOST
#include <boost/asio.hpp>
namespace net = boost::asio;
#else
#include <asio.hpp>
namespace net = asio;
#endif

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

using namespace std::chrono_literals;
using sennit::asio::error_code;
using sennit::asio::system_error;
using sennit::asio::use_fiber;
using sennit::asio::use_task;
using tcp = net::ip::tcp;

inline tcp::acceptor listening(sennit::asio::context& world) {
    return {world, tcp::endpoint(net::ip::address_v4::loopback(), 0)};
}

struct connected {
    explicit connected(sennit::asio::context& world) : mine(world), theirs(world) {
        tcp::acceptor door = listening(world);
        mine.connect(door.local_endpoint());
        theirs = door.accept();
    }
    tcp::socket mine, theirs;
};

// An operation without support of cancellation. `begin` gets the handler as a std::function.
template <class Signature, class Token>
auto async_custom(std::function<void(std::function<Signature>)> begin, Token&& token) {
    return net::async_initiate<Token, Signature>(
        [](auto handler, std::function<void(std::function<Signature>)> start) {
            auto kept = std::make_shared<decltype(handler)>(std::move(handler));
            start([kept](auto&&... values) { (*kept)(std::forward<decltype(values)>(values)...); });
        },
        token, std::move(begin));
}
