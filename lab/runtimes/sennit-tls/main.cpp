// SPDX-License-Identifier: Apache-2.0
// Sennit's server of the family `tls`: tls::stream in io::serve, a fiber for each connection. The
// certificate is made at the start.
#include "../../../tests/tls/certificates.hpp"
#include "io/server.hpp"
#include "program.hpp"

#include <sennit/io.hpp>
#include <sennit/nursery.hpp>
#include <sennit/runtime.hpp>
#include <sennit/tls.hpp>

#include <array>
#include <span>

namespace {

using namespace lab::io;
namespace net = sennit::io;
namespace tls = sennit::tls;

// excerpt tls
void echo(net::tcp_stream& from, const tls::context& context) {
    tls::stream peer = tls::stream::accept(std::move(from), context);
    std::array<std::byte, 4096> buffer;
    while (const std::size_t n = peer.read_some(buffer)) peer.write(std::span(buffer).first(n));
}
// excerpt end

bool serve(service which, unsigned threads) {
    if (which != service::tls_echo) return false;
    const certificates::pair own = certificates::authority().sign("127.0.0.1");
    const auto context = tls::context::server().certificate(own.certificate, own.key);
    sennit::runtime runtime({.workers = threads});
    runtime.run([&] {
        net::tcp_listener door(net::endpoint("127.0.0.1:0"));
        sennit::nursery server;
        server.start(
            [&] { net::serve(door, {}, [&](net::tcp_stream& peer) { echo(peer, context); }); });
        announce(door.local().port());
        net::borrowed(STDIN_FILENO).wait_readable();
        door.close();
        server.join();
    });
    return true;
}

} // namespace

int main(int argc, char** argv) {
    return lab::program<servers<&serve>>(argc, argv);
}
