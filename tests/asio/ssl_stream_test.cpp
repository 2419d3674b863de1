// SPDX-License-Identifier: Apache-2.0
// Asio's own TLS over sync_stream, where the tests have OpenSSL.
#include "support.hpp"

#ifdef SENNIT_TEST_TLS

#include "../tls/certificates.hpp"

#ifdef SENNIT_ASIO_BOOST
#include <boost/asio/ssl.hpp>
#else
#include <asio/ssl.hpp>
#endif

#include <string>

namespace {

struct ssl_stream_in : with_workers {};
INSTANTIATE_TEST_SUITE_P(workers, ssl_stream_in, testing::Values(1u, 3u));

TEST_P(ssl_stream_in, asios_tls_works_over_a_stream_of_sennit) {
    const certificates::authority authority;
    const certificates::pair own = authority.sign("server.test");
    runtime.run([&] {
        namespace ssl = net::ssl;
        using over = sennit::asio::sync_stream<sennit::io::unix_stream>;
        auto [mine, theirs] = sennit::io::socket_pair();
        sennit::fiber server([&] {
            ssl::context with(ssl::context::tls_server);
            with.use_certificate_chain(net::buffer(own.certificate));
            with.use_private_key(net::buffer(own.key), ssl::context::pem);
            ssl::stream<over> peer(over(std::move(theirs)), with);
            peer.handshake(ssl::stream_base::server);
            std::string line;
            net::read_until(peer, net::dynamic_buffer(line), '\n');
            net::write(peer, net::buffer(line + std::string(100'000, 'z')));
            error_code failed;
            peer.shutdown(failed);
        });
        ssl::context with(ssl::context::tls_client);
        with.add_certificate_authority(net::buffer(authority.certificate()));
        ssl::stream<over> peer(over(std::move(mine)), with);
        peer.set_verify_mode(ssl::verify_peer);
        peer.handshake(ssl::stream_base::client);
        net::write(peer, net::buffer("a line\n", 7));
        std::string got;
        error_code failed;
        net::read(peer, net::dynamic_buffer(got), failed);
        EXPECT_EQ(failed, net::error::eof);
        EXPECT_EQ(got, "a line\n" + std::string(100'000, 'z'));
        peer.lowest_layer().close();
        server.join();
    });
}

} // namespace

#endif
