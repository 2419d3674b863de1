// SPDX-License-Identifier: Apache-2.0
// A load over TLS 1.3, of messages that come back. All runtimes get the same cryptography: the
// cipher TLS_AES_128_GCM_SHA256 and the group X25519. No certificate is verified, and no session is
// resumed.
#pragma once

#include "load.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace lab::io {

class tls_load {
public:
    // Connects, with the handshakes. Throws std::runtime_error, also where this program was built
    // without OpenSSL.
    tls_load(std::uint16_t port, std::size_t connections);
    ~tls_load();
    tls_load(const tls_load&) = delete;
    tls_load& operator=(const tls_load&) = delete;

    // Each connection sends a request, waits for the same bytes, and sends again. Returns the times
    // of the requests. Throws std::runtime_error.
    times echo(std::uint64_t requests);
    // Each connection is closed after one request, and the next one is made. Returns the times from
    // the first call for a connection to its reply. Throws std::runtime_error.
    times handshakes(std::uint64_t connections);

private:
    struct state;
    std::unique_ptr<state> state_;
};

} // namespace lab::io
