// SPDX-License-Identifier: Apache-2.0
// A program over the installed components asio and boost_asio. Fails if they do not work.
#include <sennit/asio/sync_stream.hpp>
#include <sennit/sennit.hpp>

#include <array>
#include <cstddef>

#if SENNIT_ASIO_VERSION >= 102200
#include <sennit/asio.hpp>

#include SENNIT_ASIO_HEADER(steady_timer.hpp)

#include <chrono>
#endif

namespace net = sennit::asio::net;

int main() {
    return sennit::run([] {
#if SENNIT_ASIO_VERSION >= 102200
        sennit::asio::context world;
        net::steady_timer timer(world, std::chrono::milliseconds(1));
        timer.async_wait(sennit::asio::use_fiber);
#endif
        auto [mine, theirs] = sennit::io::socket_pair();
        sennit::asio::sync_stream near(std::move(mine));
        theirs.write("abc");
        std::array<char, 3> got;
        const std::size_t n = near.read_some(net::buffer(got));
        return n == got.size() && got[2] == 'c' ? 0 : 1;
    });
}
