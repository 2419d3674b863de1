// SPDX-License-Identifier: Apache-2.0
// tls::errc: how a handshake or a stream over TLS has failed. tls::configuration_error: a context
// that cannot be used.
//
// The calls of a stream throw io::error with one of these codes, or with the system's. Its text has
// the name of the peer, the host that was asked for, and the reason that OpenSSL gives.
#pragma once

#include <stdexcept>
#include <system_error>

namespace sennit::tls {

enum class errc {
    truncated = 1,         // The stream ended without the peer's notice that it closes.
    untrusted_certificate, // No authority that this side trusts has signed the certificate.
    expired_certificate,   // The certificate is not valid at this time.
    wrong_host,            // The certificate is for other hosts.
    no_certificate,        // The peer has sent no certificate, and this side requires it.
    refused_by_peer,       // The peer has ended the connection with an alert.
    protocol,              // The peer does not keep to the protocol, or there is no common version.
};
const std::error_category& category() noexcept;
std::error_code make_error_code(errc what) noexcept;

// A certificate, a key or an option that OpenSSL refuses. The text names the file.
class configuration_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

} // namespace sennit::tls

template <>
struct std::is_error_code_enum<sennit::tls::errc> : std::true_type {};
