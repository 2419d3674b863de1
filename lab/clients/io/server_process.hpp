// SPDX-License-Identifier: Apache-2.0
// The server under measurement: a process of its own, as workloads/io/server.hpp describes it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lab::io {

class server_process {
public:
    // Starts the program. Throws std::runtime_error if it names no port.
    explicit server_process(const std::vector<std::string>& command);
    // Ends the server without a check, where an error has come first.
    ~server_process();
    server_process(const server_process&) = delete;
    server_process& operator=(const server_process&) = delete;

    std::uint16_t port() const noexcept { return port_; }
    // The user and system time of all its threads so far. Throws std::system_error.
    double cpu_seconds() const;
    long peak_rss_kib() const;
    // Ends the server and waits for its end. Throws std::runtime_error if its status is not 0.
    void end();

private:
    std::string wait(); // The end of the server, in words; empty: status 0.

    pid_t pid_ = -1;
    int input_ = -1; // Its standard input, which ends the server when it is closed.
    std::uint16_t port_ = 0;
};

} // namespace lab::io
