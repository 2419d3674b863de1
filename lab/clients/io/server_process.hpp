// SPDX-License-Identifier: Apache-2.0
// The server under measurement: a process of its own, as workloads/io/server.hpp describes it, and
// the processes that it has started.
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
    // The user and system time of all threads so far. Throws std::system_error.
    double cpu_seconds() const;
    // The sum of the peaks of the processes.
    long peak_rss_kib() const;
    // The resident memory, in bytes; each process has its part of a page that several share.
    std::uint64_t memory() const;
    // The number of times that the kernel has taken a processor from one of the threads, because
    // the thread waited or because another one ran. A thread that ends takes its number along.
    std::uint64_t switches() const;
    // Ends the server and waits for its end. Throws std::runtime_error if its status is not 0.
    void end();

private:
    std::string wait();                // The end of the server, in words; empty: status 0.
    std::vector<pid_t> family() const; // The process, and those that main threads have started.

    pid_t pid_ = -1;
    int input_ = -1; // Its standard input, which ends the server when it is closed.
    std::uint16_t port_ = 0;
};

} // namespace lab::io
