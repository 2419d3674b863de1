// SPDX-License-Identifier: Apache-2.0
// The program of a server of the family `io`. `PROGRAM WORKLOAD SIZE THREADS` listens at a free
// port of 127.0.0.1, prints `port NUMBER` on a line, and serves until its standard input ends.
// lab/clients/io starts the server, measures it and prints the line of JSON.
#pragma once

#include "io/message.hpp"
#include "runtime_base.hpp"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace lab::io {

enum class service { echo, limited_echo, mixed, mixed_aside, fork, http, tls_echo };

// Of one read of `limited_echo`. No read of the client's connections takes so long.
inline constexpr std::chrono::seconds read_limit{10};

inline std::optional<service> service_named(std::string_view workload) {
    if (workload.starts_with("io-echo-")) return service::echo;
    if (workload.starts_with("io-limit-")) return service::limited_echo;
    if (workload == "io-http" || workload == "io-http-pipelined") return service::http;
    if (workload == "io-tls-16" || workload == "io-tls-handshake") return service::tls_echo;
    // The requests of a connection that is short, or waits for long, are light ones.
    if (workload == "io-mixed" || workload == "io-accept" || workload == "io-idle")
        return service::mixed;
    if (workload == "io-mixed-aside") return service::mixed_aside;
    if (workload.starts_with("io-fork-")) return service::fork;
    return std::nullopt;
}

inline void announce(std::uint16_t port) {
    std::printf("port %u\n", static_cast<unsigned>(port));
    std::fflush(stdout);
}

// Blocks the calling thread until the client ends the standard input.
inline void wait_for_end() {
    char rest[64];
    for (;;) {
        const ssize_t n = ::read(STDIN_FILENO, rest, sizeof rest);
        if (n == 0 || (n < 0 && errno != EINTR)) return;
    }
}

// A table of program.hpp. `Serve(service, threads)` serves until the standard input ends, or
// returns false if the runtime has no such service.
template <auto Serve>
struct servers {
    static std::optional<int> run(const std::string& name, const std::string& size,
                                  unsigned threads) {
        const std::optional<service> which = service_named(name);
        if (!which) return std::nullopt;
        (void)parse_size(size, 1, 999'999'999);
        return Serve(*which, threads) ? std::optional(0) : std::nullopt;
    }
};

} // namespace lab::io
