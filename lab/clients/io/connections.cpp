// SPDX-License-Identifier: Apache-2.0
#include "connections.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace lab::io {

namespace {

sockaddr_in loopback(std::uint32_t last_byte, std::uint16_t port) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + last_byte);
    at.sin_port = htons(port);
    return at;
}

// An address has about 28,000 ports, and a port stays in use for a minute after the end of its
// connection. So the connections come from 127.0.0.1 to 127.0.0.200 in turn.
constexpr std::size_t connections_of_address = 16'384, addresses = 200;

} // namespace

void refuse(const char* operation) {
    throw std::system_error(errno, std::generic_category(), operation);
}

int connect_to_server(std::uint16_t port, std::size_t number) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket < 0) refuse("socket");
    const sockaddr_in to = loopback(1, port);
    const sockaddr_in from =
        loopback(static_cast<std::uint32_t>(1 + number / connections_of_address % addresses), 0);
    const int on = 1;
    // The port is chosen when the connection is made: it must be free for this server only.
    if (::setsockopt(socket, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on) != 0 ||
        ::bind(socket, reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0 ||
        ::connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0 ||
        ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) {
        const int error = errno;
        ::close(socket);
        errno = error;
        refuse("connecting to the server");
    }
    return socket;
}

connections::connections(std::uint16_t port, std::size_t count) : port_(port) {
    set_ = ::epoll_create1(EPOLL_CLOEXEC);
    if (set_ < 0) refuse("epoll_create1");
    add(count);
}

void connections::add(std::size_t count) {
    all_.reserve(all_.size() + count);
    for (std::size_t i = 0; i < count; ++i) {
        all_.emplace_back();
        connect(all_.size() - 1);
    }
}

void connections::close(std::size_t index) {
    ::close(std::exchange(all_[index].socket, -1)); // Leaves the set, too.
}

void connections::connect(std::size_t index) {
    all_[index].socket = connect_to_server(port_, connected_++);
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    wanted.data.u64 = index;
    if (::epoll_ctl(set_, EPOLL_CTL_ADD, all_[index].socket, &wanted) != 0) refuse("epoll_ctl");
}

connections::~connections() {
    for (const connection& one : all_)
        if (one.socket >= 0) ::close(one.socket);
    if (set_ >= 0) ::close(set_);
}

void connections::watch_alarm(int descriptor) {
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    wanted.data.u64 = alarm;
    if (::epoll_ctl(set_, EPOLL_CTL_ADD, descriptor, &wanted) != 0) refuse("epoll_ctl");
}

message connections::fresh() noexcept {
    message made{};
    const std::uint64_t seed = next_++ * 0x9E37'79B9'7F4A'7C15;
    for (std::size_t word = 2; word < made.size(); ++word) made[word] = seed ^ (seed >> (2 * word));
    return made;
}

void connections::send(connection& on, const message& request, const message& expected) {
    on.expected = expected;
    on.filled = 0;
    const ssize_t n = ::send(on.socket, request.data(), sizeof request, MSG_NOSIGNAL);
    if (n < 0) refuse("sending a request");
    // No other request is under way, so the socket has room.
    if (static_cast<std::size_t>(n) != sizeof request)
        throw std::runtime_error("the system took " + std::to_string(n) + " bytes of a request");
}

std::span<const std::size_t> connections::wait() {
    int n = 0;
    do {
        n = ::epoll_wait(set_, events_.data(), most_events, -1);
    } while (n < 0 && errno == EINTR);
    if (n < 0) refuse("epoll_wait");
    const auto count = static_cast<std::size_t>(n);
    for (std::size_t i = 0; i < count; ++i) ready_[i] = events_[i].data.u64;
    return std::span(ready_).first(count);
}

bool connections::receive(connection& on) {
    char* into = reinterpret_cast<char*>(on.received.data()); // SAFETY: bytes of plain words.
    const ssize_t n =
        ::recv(on.socket, into + on.filled, sizeof on.received - on.filled, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (n < 0) refuse("receiving a reply");
    if (n == 0) throw std::runtime_error("the server closed a connection before its reply");
    on.filled += static_cast<std::size_t>(n);
    if (on.filled != sizeof on.received) return false;
    if (on.received != on.expected)
        throw std::runtime_error("the server sent a wrong reply: its bytes are not those expected");
    return true;
}

} // namespace lab::io
