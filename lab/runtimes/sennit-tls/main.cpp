// SPDX-License-Identifier: Apache-2.0
// Sennit's server of the family `tls`: tls::stream in io::serve, a fiber for each connection. The
// certificate is made at the start.
#include "../../../tests/tls/certificates.hpp"
#include "../sennit/serve_until_told.hpp"
#include "io/server.hpp"
#include "program.hpp"

#include <sennit/io.hpp>
#include <sennit/nursery.hpp>
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
    serve_until_told(threads, [&](net::tcp_listener& door, sennit::nursery& clients) {
        clients.start(
            [&] { net::serve(door, {}, [&](net::tcp_stream& peer) { echo(peer, context); }); });
    });
    return true;
}

} // namespace

int main(int argc, char** argv) {
    return lab::program<servers<&serve>>(argc, argv);
}
