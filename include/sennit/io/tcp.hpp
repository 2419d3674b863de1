// SPDX-License-Identifier: Apache-2.0
// io::tcp_listener and io::tcp_stream: connections over TCP.
//
//     sennit::io::tcp_listener door(sennit::io::endpoint("0.0.0.0:8080"));
//     for (;;) clients.start([peer = door.accept()]() mutable { serve(peer); });
//
//     auto server = sennit::io::tcp_stream::connect(sennit::io::endpoint("127.0.0.1:8080"));
//
// New streams send small packets at once (TCP_NODELAY), and close at exec. stream.hpp describes
// blocking, cancellation and thread safety. For a server with limits use `serve`.
#pragma once

#include "sennit/io/stream.hpp"

#include <cstdint>
#include <system_error>

namespace sennit::io {

class tcp_stream : public stream {
public:
    tcp_stream() noexcept = default; // Closed.
    // Connect to `to`. Block until the peer accepts or refuses, for as long as the system tries:
    // use with_timeout for a limit. Throw io::error, cancelled, std::bad_alloc.
    static tcp_stream connect(const endpoint& to);
    static tcp_stream connect(const endpoint& to, std::error_code& failed);
    static task<tcp_stream> async_connect(endpoint to);

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

    // Block until a connection comes. Throw io::error, for example std::errc::too_many_files_open;
    // the connection then waits for the next call. Several strands may accept at a time.
    tcp_stream accept();
    tcp_stream accept(std::error_code& failed);
    task<tcp_stream> async_accept();
    endpoint local() const; // Throws io::error.

    using stream_type = tcp_stream;
};

} // namespace sennit::io
