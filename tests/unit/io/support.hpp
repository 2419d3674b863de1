// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of input and output: connected streams of each kind, and text.
#pragma once

#include "../../support/with_workers.hpp"

#include <sennit/block_on.hpp>
#include <sennit/io.hpp>
#include <sennit/nursery.hpp>
#include <sennit/this_fiber.hpp>
#include <sennit/with_timeout.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace io = sennit::io;

#define SENNIT_IO_FOR_WORKERS(suite)                                                               \
    INSTANTIATE_TEST_SUITE_P(, suite, testing::Values(1u, 2u, 3u, 8u),                             \
                             [](const testing::TestParamInfo<unsigned>& one) {                     \
                                 return std::to_string(one.param) + "_workers";                    \
                             })

inline io::tcp_listener any_port() {
    return io::tcp_listener(io::endpoint("127.0.0.1:0"));
}

// Two TCP streams that are connected to each other. Call it in a runtime.
inline std::pair<io::tcp_stream, io::tcp_stream> tcp_pair() {
    io::tcp_listener door = any_port();
    io::tcp_stream client = io::tcp_stream::connect(door.local());
    return {std::move(client), door.accept()};
}

template <class Stream>
std::string read_text(Stream& from, std::size_t size) {
    std::string text(size, '\0');
    from.read(std::as_writable_bytes(std::span(text)));
    return text;
}

// Reads to the end.
template <class Stream>
std::string read_rest(Stream& from) {
    std::string all;
    std::array<char, 1000> some{};
    while (const std::size_t n = from.read_some(std::as_writable_bytes(std::span(some))))
        all.append(some.data(), n);
    return all;
}
