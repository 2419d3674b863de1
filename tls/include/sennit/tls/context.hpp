// SPDX-License-Identifier: Apache-2.0
// tls::context: the certificates and options that the streams of a client or a server share.
//
//     auto server = sennit::tls::context::server();
//     server.certificate_file("chain.pem", "key.pem").alpn({"h2", "http/1.1"});
//
//     auto client = sennit::tls::context::client();   // trusts the authorities of the system
//
// A client verifies the certificate and the host of its server, unless `trust_anyone` was called. A
// server asks for no certificate, unless `require_certificate` was called. The versions are TLS 1.2
// and 1.3. The options of OpenSSL's own configuration file apply.
// Thread safety: set a context up in one strand; then any strands may make streams with it. A copy
// is another name of the same context. A stream keeps its context alive.
// Each function that sets something returns the context, and throws configuration_error.
#pragma once

#include "sennit/tls/error.hpp"

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

namespace sennit::tls {

namespace detail {
struct context_state;
struct context_access;
} // namespace detail

class context {
public:
    static context client();
    static context server();

    // The own certificate, followed by the certificates of the authorities between it and a root;
    // and its private key. Both in the form PEM.
    context& certificate_file(const std::filesystem::path& chain, const std::filesystem::path& key);
    context& certificate(std::string_view chain, std::string_view key);
    // Trust these authorities, in the form PEM. The first call of a client replaces those of the
    // system.
    context& trust_file(const std::filesystem::path& authorities);
    context& trust(std::string_view authorities);
    // A client accepts any certificate: anyone between the two sides can read and change all bytes.
    // For tests.
    context& trust_anyone();
    // A server requires a certificate that an authority of `trust` has signed.
    context& require_certificate();
    // The protocols above TLS, the preferred one first. A server that shares no protocol with its
    // client refuses the handshake.
    context& alpn(std::initializer_list<std::string_view> protocols);
    // A server uses `other` for clients that ask for this host.
    context& host(std::string name, const context& other);

private:
    friend struct detail::context_access;
    explicit context(std::shared_ptr<detail::context_state> state) noexcept;
    std::shared_ptr<detail::context_state> state_;
};

} // namespace sennit::tls
