// SPDX-License-Identifier: Apache-2.0
// A load of HTTP/1.1 requests on connections that stay open. Each connection sends some requests at
// once, waits for all their replies, and sends again. Each reply must have the status 200 and the
// expected body.
#pragma once

#include "load.hpp"

#include <cstdint>

namespace lab::io {

struct http_load {
    std::uint64_t requests;
    std::size_t connections;
    std::size_t depth; // Requests that a connection sends at once.

    // The times from the sending of a request to its whole reply. Throws std::runtime_error.
    times run(std::uint16_t port) const;
};

} // namespace lab::io
