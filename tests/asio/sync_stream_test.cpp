// SPDX-License-Identifier: Apache-2.0
#include "support.hpp"

#include <array>
#include <string>
#include <system_error>

namespace {

namespace io = sennit::io;
using sennit::asio::sync_stream;

struct sync_stream_in : with_workers {};
INSTANTIATE_TEST_SUITE_P(workers, sync_stream_in, testing::Values(1u, 3u));

TEST_P(sync_stream_in, the_algorithms_of_asio_work) {
    runtime.run([] {
        auto [mine, theirs] = io::socket_pair();
        sync_stream near(std::move(mine));
        sync_stream far(theirs); // Refers to it.
        static_assert(std::is_same_v<decltype(far), sync_stream<io::unix_stream&>>);
        sennit::fiber peer([&] {
            std::string line;
            const std::size_t n = net::read_until(far, net::dynamic_buffer(line), '\n');
            EXPECT_EQ(line.substr(0, n), "a line\n");
            const std::string large(500'000, 'y');
            net::write(far,
                       std::array<net::const_buffer, 2>{net::buffer(large), net::buffer(line)});
            theirs.shutdown_write();
        });
        net::write(near, net::buffer("a line\nrest", 11));
        std::string got;
        error_code failed;
        net::read(near, net::dynamic_buffer(got), failed);
        EXPECT_EQ(failed, net::error::eof);
        EXPECT_EQ(got, std::string(500'000, 'y') + "a line\nrest");
        peer.join();
        EXPECT_THROW(net::read(near, net::dynamic_buffer(got)), system_error);
    });
}

TEST_P(sync_stream_in, empty_buffers_transfer_nothing) {
    runtime.run([] {
        auto [mine, theirs] = io::socket_pair();
        sync_stream near(mine);
        error_code failed = net::error::eof;
        EXPECT_EQ(near.read_some(net::mutable_buffer(), failed), 0u);
        EXPECT_FALSE(failed);
        EXPECT_EQ(near.write_some(net::const_buffer()), 0u);
        // An empty buffer in front of another one is no end.
        theirs.write("x");
        std::array<char, 4> got;
        EXPECT_EQ(near.read_some(
                      std::array<net::mutable_buffer, 2>{net::mutable_buffer(), net::buffer(got)}),
                  1u);
    });
}

TEST_P(sync_stream_in, parts_go_out_in_one_call) {
    runtime.run([] {
        auto [mine, theirs] = io::socket_pair();
        sync_stream near(mine);
        EXPECT_EQ(near.write_some(std::array<net::const_buffer, 3>{
                      net::buffer("abc", 3), net::const_buffer(), net::buffer("defg", 4)}),
                  7u);
        std::array<std::byte, 16> got;
        EXPECT_EQ(theirs.read_some(got), 7u);
    });
}

TEST_P(sync_stream_in, errors_compare_with_those_of_asio) {
    runtime.run([] {
        auto [mine, theirs] = io::socket_pair();
        sync_stream near(mine);
        std::array<char, 4> got;
        error_code failed;
        mine.timeout(1ms);
        EXPECT_EQ(near.read_some(net::buffer(got), failed), 0u);
        EXPECT_EQ(failed, net::error::timed_out);
        mine.no_timeout();
        sennit::event begins;
        sennit::fiber reader([&] {
            begins.set();
            try {
                (void)near.read_some(net::buffer(got));
                ADD_FAILURE() << "read from a closed stream";
            } catch (const system_error& thrown) {
                EXPECT_TRUE(thrown.code() == net::error::operation_aborted ||
                            thrown.code() == net::error::bad_descriptor);
            }
        });
        begins.wait();
        near.close();
        reader.join();
        theirs.close();
        EXPECT_EQ(near.write_some(net::buffer("x", 1), failed), 0u);
        EXPECT_EQ(failed, net::error::bad_descriptor);
    });
}

TEST_P(sync_stream_in, a_broken_connection_is_reported) {
    runtime.run([] {
        auto [mine, theirs] = io::socket_pair();
        sync_stream near(mine);
        theirs.close();
        error_code failed;
        while (!failed) near.write_some(net::buffer("x", 1), failed);
        EXPECT_EQ(failed, net::error::broken_pipe);
    });
}

TEST_P(sync_stream_in, cancellation_passes_through) {
    runtime.run([] {
        auto [mine, theirs] = io::socket_pair();
        sync_stream near(mine);
        std::string got;
        error_code failed;
        EXPECT_THROW(
            sennit::with_timeout(
                1ms, [&] { net::read_until(near, net::dynamic_buffer(got), '\n', failed); }),
            sennit::timed_out);
        got.clear(); // read_until had made room.
        theirs.write("later\n");
        EXPECT_EQ(net::read_until(near, net::dynamic_buffer(got), '\n'), 6u);
    });
}

} // namespace
