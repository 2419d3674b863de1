// SPDX-License-Identifier: Apache-2.0
// io::tcp_listener and io::tcp_stream: connections over TCP.
//
//     sennit::io::tcp_listener door(sennit::io::endpoint("0.0.0.0:8080"));
//     for (;;) clients.start([peer = door.accept()]() mutable { serve(peer); });
//
//     auto server = sennit::io::tcp_stream::connect(sennit::io::endpoint("127.0.0.1:8080"));
//     auto other = sennit::io::tcp_stream::connect("example.org", "https");
//
// To connect by name is to race its addresses, after RFC 8305 ("Happy Eyeballs"): the families
// alternate; an attempt starts when the one before it has failed, or after `attempt_delay`; the
// first connection wins, and all other attempts are closed.
//
// New streams send small packets at once (TCP_NODELAY), and close at exec. stream.hpp describes
// blocking, cancellation and thread safety. For a server with limits use `serve`.
#pragma once

#include "sennit/io/resolve.hpp"
#include "sennit/io/stream.hpp"

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <system_error>
#include <vector>

namespace sennit::io {

struct connect_options {
    // An attempt at the next address starts after this time at the latest.
    std::chrono::nanoseconds attempt_delay = std::chrono::milliseconds(250);
    address_family family = address_family::any;
};

class tcp_stream : public stream {
public:
    tcp_stream() noexcept = default; // Closed.
    // Connect to `to`. Block until the peer accepts or refuses, for as long as the system tries:
    // use with_timeout for a limit. Throw io::error, cancelled, std::bad_alloc.
    static tcp_stream connect(const endpoint& to);
    static tcp_stream connect(const endpoint& to, std::error_code& failed);
    static task<tcp_stream> async_connect(endpoint to);

    // Resolve the host, and connect to the first of its addresses that answers. The text of the
    // error has the errors of all attempts, and its code is that of the first one. Throw io::error
    // of `resolve` and of `connect`, cancelled, std::bad_alloc.
    static tcp_stream connect(const std::string& host, const std::string& service,
                              const connect_options& how = {});
    static tcp_stream connect(const std::string& host, const std::string& service,
                              const connect_options& how, std::error_code& failed);
    static tcp_stream connect(const std::string& host, std::uint16_t port,
                              const connect_options& how = {});
    static task<tcp_stream> async_connect(std::string host, std::string service,
                                          connect_options how = {});
    // The race alone, among addresses in the given order: their families do not alternate.
    static tcp_stream connect_first(std::span<const endpoint> to, const connect_options& how = {});
    static task<tcp_stream> async_connect_first(std::vector<endpoint> to, connect_options how = {});

    // True (the default): a small write is sent at once. Throws io::error.
    void no_delay(bool on);
    // True: the system probes an idle connection, and ends it if the peer is gone. Throws
    // io::error.
    void keep_alive(bool on);

private:
    friend struct detail::handle_access;
    explicit tcp_stream(sched::io_record& record) noexcept : stream(record) {}
};

struct listen_options {
    // Connections that the system keeps until they are accepted.
    int backlog = 4096;
    // True: several processes, or several listeners of this one, share the port.
    bool reuse_port = false;
};

class tcp_listener : public handle {
public:
    tcp_listener() noexcept = default; // Closed.
    // Listens at `at`; port 0: the system chooses one, see `local`. A listener that has just ended
    // does not hold the port (SO_REUSEADDR). Throws io::error.
    explicit tcp_listener(const endpoint& at, const listen_options& how = {});
    // Listens at all networks of this machine, over IPv6 and IPv4, or over IPv4 alone where the
    // system has no IPv6. Throws io::error.
    explicit tcp_listener(std::uint16_t port, const listen_options& how = {});
    // Listens at the first address of a host that this machine has. Blocks as `resolve` does.
    // Throws io::error.
    tcp_listener(const std::string& host, const std::string& service,
                 const listen_options& how = {});

    // Block until a connection comes. Throw io::error, for example std::errc::too_many_files_open;
    // the connection then waits for the next call. Several strands may accept at a time.
    tcp_stream accept();
    tcp_stream accept(std::error_code& failed);
    // Does not block: std::errc::operation_would_block if no connection waits.
    tcp_stream try_accept(std::error_code& failed);
    task<tcp_stream> async_accept();
    endpoint local() const; // Throws io::error.

    using stream_type = tcp_stream;
};

} // namespace sennit::io
