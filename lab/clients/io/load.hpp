// SPDX-License-Identifier: Apache-2.0
// The kinds of load. Each returns when all replies have come.
#pragma once

#include "connections.hpp"
#include "server_process.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lab::io {

// Times of requests in nanoseconds, up to 4.2 s.
using times = std::vector<std::uint32_t>;
std::uint32_t nanoseconds(clock::duration of);

// The time that `part` of the requests do not exceed, in microseconds. Reorders the times.
double percentile_us(times& of, double part);
// `, "NAME_p50": …, "NAME_p99": …, "NAME_p999": …`, in microseconds.
std::string percentiles(times& of, const std::string& name);

// Closed loop: each connection sends a request, waits for the reply, and sends again, until
// `requests` have been sent.
struct closed_loop {
    std::uint64_t requests;
    std::uint64_t steps = 0; // Word 0 of each request.
    // Word 1 of the reply. It is computed once, because all requests have the same words 0 and 1.
    message (*reply)(message request) = [](message request) { return request; };

    times run(connections& over) const;
};

// Open loop: requests begin at times of a timetable, whether replies come or not. A request that
// finds every connection busy waits for one, and its time counts from the timetable.
struct open_loop {
    std::uint64_t requests;
    double per_second;
    double heavy_part;         // Of the requests.
    std::uint64_t heavy_steps; // Their work.

    struct result {
        times light, heavy;
        times late; // By which the client was late with a request that found a free connection.
    };
    result run(connections& over) const;
};

// A storm of connections: each of them has one request and its reply, and is closed. All
// connections of `over` are under way at a time. The times begin before the connection is made.
struct storm {
    std::uint64_t connections_to_make;

    times run(connections& over) const;
};

// Connections that wait. Each new one has one request, and rests. After a rest of all of them, each
// has a second request.
struct idle {
    std::uint64_t connections_to_add;

    struct result {
        double bytes;           // Memory of the server for each new connection.
        std::uint64_t switches; // Of the server, during the rest.
    };
    result run(connections& over, const server_process& server) const;
};

} // namespace lab::io
