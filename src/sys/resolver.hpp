// SPDX-License-Identifier: Apache-2.0
// Addresses of names, by the resolver of the C library.
#pragma once

#include "sys/socket.hpp"

#include <cstdint>
#include <vector>

namespace sennit::sys {

enum class lookup_error : std::uint8_t {
    none,
    host_not_found,
    try_again,
    service_not_found,
    failed,
    system, // See lookup_result::system_error.
};

enum class address_family : std::uint8_t { any, ipv4, ipv6 };

struct lookup_result {
    lookup_error error = lookup_error::none;
    int system_error = 0;
    std::vector<socket_address> found; // Without duplicates, in the resolver's order.
};

// Blocks its thread for as long as the configuration of the system says: possibly many seconds.
// `passive`: addresses to listen at. An empty host is this machine.
lookup_result look_up(const char* host, const char* service, address_family of,
                      bool passive) noexcept;

} // namespace sennit::sys
