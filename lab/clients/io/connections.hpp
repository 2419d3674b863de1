// SPDX-License-Identifier: Apache-2.0
// The connections of the client, and the requests on them: each connection has at most one request
// under way, and each byte of a reply is compared with the reply that is expected.
#pragma once

#include "io/message.hpp"

#include <sys/epoll.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lab::io {

using clock = std::chrono::steady_clock;

struct connection {
    int socket = -1;
    message expected{};
    message received{};
    std::size_t filled = 0;  // Bytes of `received`.
    clock::time_point begin; // From which the time of the request counts.
    std::uint32_t kind = 0;  // Of the request, as the load numbers them.
};

// Throws std::system_error: the system call `operation` has failed with the present errno.
[[noreturn]] void refuse(const char* operation);

// A socket that is connected to the server. `number` counts the connections of this process. Throws
// std::system_error.
int connect_to_server(std::uint16_t port, std::size_t number);

class connections {
public:
    // Connects. Throws std::system_error.
    connections(std::uint16_t port, std::size_t count);
    ~connections();
    connections(const connections&) = delete;
    connections& operator=(const connections&) = delete;

    // Connects more of them. Throws std::system_error.
    void add(std::size_t count);
    void close(std::size_t index);
    // Requires that the connection is closed. Throws std::system_error.
    void connect(std::size_t index);
    std::size_t size() const noexcept { return all_.size(); }
    connection& operator[](std::size_t index) noexcept { return all_[index]; }

    // A request that differs from all earlier ones. The caller sets words 0 and 1.
    message fresh() noexcept;
    // Sends the request. Its reply must be `expected`. Throws std::runtime_error.
    void send(connection& on, const message& request, const message& expected);
    // Adds a descriptor that `wait` reports as `alarm`.
    void watch_alarm(int descriptor);
    static constexpr std::size_t alarm = SIZE_MAX;
    // Blocks until something is readable: the indices of connections.
    std::span<const std::size_t> wait();
    // Reads what has come. Returns true if the reply is whole and right; false: more must come.
    // Throws std::runtime_error if it is wrong, or the connection has ended.
    bool receive(connection& on);

private:
    static constexpr std::size_t most_events = 256;
    std::uint16_t port_;
    std::size_t connected_ = 0; // So many times.
    std::vector<connection> all_;
    int set_ = -1;
    std::uint64_t next_ = 1;
    std::array<epoll_event, most_events> events_;
    std::array<std::size_t, most_events> ready_;
};

} // namespace lab::io
