// SPDX-License-Identifier: Apache-2.0
// The certificates that a handshake accepts, and contexts that cannot be used.
#include "support.hpp"

#include <chrono>
#include <fstream>
#include <functional>
#include <string>

namespace {

class tls_certificates : public with_workers {};
SENNIT_FOR_WORKERS(tls_certificates);

TEST_P(tls_certificates, certificate_of_unknown_authority_is_refused) {
    runtime.run([] {
        const certificates::authority other;
        const handshake both =
            shake(tls::context::client().trust(other.certificate()), server_context());
        EXPECT_EQ(both.of_client, tls::errc::untrusted_certificate);
        EXPECT_NE(both.text.find("host 'server.test'"), std::string::npos) << both.text;
        EXPECT_NE(both.text.find("127.0.0.1:"), std::string::npos) << both.text;
    });
}

TEST_P(tls_certificates, authorities_of_the_system_do_not_trust_the_test) {
    runtime.run([] {
        EXPECT_EQ(shake(tls::context::client(), server_context()).of_client,
                  tls::errc::untrusted_certificate);
    });
}

TEST_P(tls_certificates, certificate_of_other_host_is_refused) {
    runtime.run([] {
        const handshake both = shake(client_context(), server_context(), "other.test");
        EXPECT_EQ(both.of_client, tls::errc::wrong_host);
        EXPECT_NE(both.text.find("host 'other.test'"), std::string::npos) << both.text;
        EXPECT_EQ(shake(client_context(), server_context(), "127.0.0.1").of_client,
                  tls::errc::wrong_host);
    });
}

TEST_P(tls_certificates, certificate_of_an_address_is_accepted) {
    runtime.run([] {
        const handshake both = shake(
            client_context(), server_context(test_authority().sign("127.0.0.1")), "127.0.0.1");
        EXPECT_FALSE(both.of_client) << both.text;
    });
}

TEST_P(tls_certificates, expired_certificate_is_refused) {
    runtime.run([] {
        for (const auto& [first, last] : {std::pair(-3, -1), std::pair(1, 3)})
            EXPECT_EQ(shake(client_context(),
                            server_context(test_authority().sign("server.test", first, last)))
                          .of_client,
                      tls::errc::expired_certificate);
    });
}

// The server learns it with its first read in TLS 1.3.
TEST_P(tls_certificates, server_learns_that_its_certificate_is_refused) {
    runtime.run([] {
        handshake both = shake(client_context(), server_context(), "other.test");
        std::error_code failed = both.of_server;
        std::array<std::byte, 1> none{};
        if (both.server) (void)both.server->read_some(none, failed);
        EXPECT_EQ(failed, tls::errc::refused_by_peer);
    });
}

TEST_P(tls_certificates, client_trusts_any_certificate_on_request) {
    runtime.run([] {
        const handshake both =
            shake(tls::context::client().trust_anyone(), server_context(), "other.test");
        EXPECT_TRUE(both.client && both.server) << both.text;
    });
}

TEST_P(tls_certificates, server_requires_a_certificate_of_its_client) {
    runtime.run([] {
        const tls::context server =
            server_context().trust(test_authority().certificate()).require_certificate();
        EXPECT_EQ(shake(client_context(), server).of_server, tls::errc::no_certificate);
        const certificates::pair own = test_authority().sign("client.test");
        handshake both = shake(client_context().certificate(own.certificate, own.key), server);
        ASSERT_TRUE(both.client && both.server) << both.text;
        EXPECT_EQ(both.server->peer_subject(), "CN=client.test");
    });
}

TEST_P(tls_certificates, server_chooses_its_certificate_by_host) {
    runtime.run([] {
        const tls::context server = server_context().host(
            "other.test", server_context(test_authority().sign("other.test")));
        for (const char* host : {"server.test", "other.test"}) {
            handshake both = shake(client_context(), server, host);
            ASSERT_TRUE(both.client) << both.text;
            EXPECT_EQ(both.client->peer_subject(), std::string("CN=") + host);
        }
    });
}

TEST_P(tls_certificates, sides_without_common_protocol_part) {
    runtime.run([] {
        const handshake both =
            shake(client_context().alpn({"a"}), server_context().alpn({"b", "c"}));
        EXPECT_EQ(both.of_client, tls::errc::refused_by_peer);
        EXPECT_EQ(both.of_server, tls::errc::protocol);
    });
}

// ---- contexts

void expect_refused(const std::function<void()>& what, const std::string& id,
                    const std::string& name) {
    try {
        what();
        ADD_FAILURE() << id;
    } catch (const tls::configuration_error& refused) {
        const std::string text = refused.what();
        EXPECT_NE(text.find(id), std::string::npos) << text;
        EXPECT_NE(text.find(name), std::string::npos) << text;
    }
}

TEST(tls_contexts, unusable_files_are_named) {
    const std::string none = testing::TempDir() + "sennit-no-such-file.pem";
    const std::string nonsense = testing::TempDir() + "sennit-nonsense.pem";
    std::ofstream(nonsense) << "no certificate";
    for (const std::string& file : {none, nonsense}) {
        expect_refused([&] { tls::context::server().certificate_file(file, file); }, "SNT-461",
                       file);
        expect_refused([&] { tls::context::client().trust_file(file); }, "SNT-461", file);
    }
    const std::string good = testing::TempDir() + "sennit-good.pem";
    std::ofstream(good) << of_server().certificate << of_server().key;
    tls::context::server().certificate_file(good, good);
    expect_refused([&] { tls::context::server().certificate_file(good, nonsense); }, "SNT-461",
                   nonsense);
    const std::string authorities = testing::TempDir() + "sennit-authority.pem";
    std::ofstream(authorities) << test_authority().certificate();
    tls::context::client().trust_file(authorities);
}

TEST(tls_contexts, key_of_another_certificate_is_refused) {
    const certificates::pair other = test_authority().sign("other.test");
    expect_refused([&] { tls::context::server().certificate(of_server().certificate, other.key); },
                   "SNT-461", "the key in memory");
    expect_refused([&] { tls::context::server().certificate("nothing", other.key); }, "SNT-461",
                   "the certificate in memory");
    expect_refused([&] { tls::context::client().trust("nothing"); }, "SNT-461",
                   "the authority in memory");
}

TEST_P(tls_certificates, wrong_use_of_a_context_is_refused) {
    runtime.run([] {
        expect_refused([] { tls::context::client().alpn({""}); }, "SNT-462", "ALPN");
        expect_refused(
            [] {
                auto [mine, theirs] = io::socket_pair();
                (void)tls::stream::connect(std::move(mine), "", client_context());
            },
            "SNT-463", "host");
        expect_refused(
            [] {
                auto [mine, theirs] = io::socket_pair();
                (void)tls::stream::connect(std::move(mine), std::string(300, 'a'),
                                           client_context());
            },
            "SNT-464", "aaa");
        expect_refused(
            [] {
                auto [mine, theirs] = io::socket_pair();
                (void)tls::stream::accept(std::move(mine), client_context());
            },
            "SNT-465", "server");
    });
}

} // namespace
