// SPDX-License-Identifier: Apache-2.0
// io::datagram_socket: datagrams over UDP, or between processes of one machine over a Unix address.
// io::udp_socket is its usual name.
//
//     sennit::io::udp_socket socket(sennit::io::endpoint("0.0.0.0:5353"));
//     std::array<std::byte, 1500> buffer;
//     const sennit::io::datagram one = socket.receive_from(buffer);
//     if (!one.truncated()) socket.send_to(std::span(buffer).first(one.size), one.from);
//
// A datagram arrives whole or not at all; over UDP it may be lost, doubled or late. Its size may be
// 0. A datagram that is longer than the buffer is cut, and the result says so.
// An earlier datagram that was refused is reported as an error of a later call on a connected
// socket, for example std::errc::connection_refused.
// The calls block the calling fiber, forked child, task, actor's handler or thread, and never its
// worker; stream.hpp describes cancellation and cost, handle.hpp the limits of time and thread
// safety. on_readable works with a socket, too.
#pragma once

#include "sennit/io/stream.hpp"

#include <cstddef>
#include <string_view>
#include <system_error>

namespace sennit::io {

struct datagram {
    std::size_t size = 0; // The bytes in the buffer.
    std::size_t sent = 0; // The bytes of the datagram.
    endpoint from{};      // Empty for a Unix socket without an address.
    bool truncated() const noexcept { return sent > size; }
};

struct datagram_options {
    bool reuse_port = false; // Several sockets share the port.
    bool broadcast = false;  // `send_to` may name a broadcast address.
};

class datagram_socket : public handle {
public:
    datagram_socket() noexcept = default; // Closed.
    // Binds a socket to `at`; port 0: the system chooses one, see `local`. A Unix path must not
    // exist, and stays after the socket has ended. Throws io::error.
    explicit datagram_socket(const endpoint& at, const datagram_options& how = {});
    // A socket at any port, or without an address, that is connected to `to`. Throws io::error.
    static datagram_socket connected(const endpoint& to);

    // From now on `send` goes to `to`, and only datagrams from there are received. Throws
    // io::error.
    void connect(const endpoint& to);
    // Send one datagram. A datagram that is too long gives std::errc::message_size. Throw
    // io::error, cancelled.
    void send_to(const_bytes what, const endpoint& to);
    void send_to(const_bytes what, const endpoint& to, std::error_code& failed);
    void send_to(std::string_view text, const endpoint& to) { send_to(bytes_of(text), to); }
    task<void> async_send_to(const_bytes what, endpoint to);
    void send(const_bytes what) { send_to(what, endpoint()); } // To the connected peer.
    void send(std::string_view text) { send(bytes_of(text)); }
    // Block until a datagram comes. Throw io::error, cancelled.
    datagram receive_from(bytes into);
    datagram receive_from(bytes into, std::error_code& failed);
    task<datagram> async_receive_from(bytes into);

    endpoint local() const;  // Throws io::error.
    endpoint remote() const; // Throws io::error, std::errc::not_connected.
    // Bytes that the system buffers. Throws io::error.
    void send_buffer(std::size_t size);
    void receive_buffer(std::size_t size);

private:
    friend struct detail::handle_access;
    explicit datagram_socket(sched::io_record& record) noexcept : handle(record) {}
};

using udp_socket = datagram_socket;

} // namespace sennit::io
