// SPDX-License-Identifier: Apache-2.0
// io::resolve: the addresses of a name, by the resolver of the system (/etc/hosts, name servers).
//
//     for (const sennit::io::endpoint& at : sennit::io::resolve("example.org", "443")) try_at(at);
//
// Use it for the addresses themselves. To connect by name, use tcp_stream::connect with a host and
// a service, which tries the addresses. Do not use it for each request: nothing is cached.
//
// Blocks the calling fiber, forked child, actor's handler, task or thread, and never its worker. A
// text that is an address needs no lookup. Otherwise a thread for lookups asks the resolver, which
// may take seconds. At most 32 lookups run at a time in a process; later ones wait.
// A wait is a point of cancellation, and with_timeout limits it. The system cannot interrupt a
// lookup: the thread finishes it without harm, and drops the result.
// Thread safety: any thread. Cost: a thread, 30 us, besides the resolver's own time.
#pragma once

#include "sennit/block_on.hpp" // The class task.
#include "sennit/io/endpoint.hpp"
#include "sennit/io/error.hpp"

#include <cstdint>
#include <string>
#include <system_error>
#include <vector>

namespace sennit::io {

enum class address_family : std::uint8_t { any, ipv4, ipv6 };

struct resolve_options {
    address_family family = address_family::any;
    // True: addresses to listen at. An empty host then gives those of all networks.
    bool passive = false;
};

// Return the addresses of `host` with the port `service`, in the order of preference of the system:
// at least one. `host` is a name or an address, without brackets; empty: this machine. `service` is
// a number or a name such as "https". Throw io::error: errc::host_not_found, errc::resolve_again,
// errc::service_not_found, errc::resolve_failed, or an error of the system. Throw cancelled and
// std::bad_alloc. The form with an error returns an empty list then.
std::vector<endpoint> resolve(const std::string& host, const std::string& service,
                              const resolve_options& how = {});
std::vector<endpoint> resolve(const std::string& host, const std::string& service,
                              const resolve_options& how, std::error_code& failed);
task<std::vector<endpoint>> async_resolve(std::string host, std::string service,
                                          resolve_options how = {});

} // namespace sennit::io
