// SPDX-License-Identifier: Apache-2.0
#include "sys/socket.hpp"

#include "sys/result.hpp"
#include "sys/without_sigpipe.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstring>

namespace sennit::sys {

static_assert(sizeof(sockaddr_un) <= address_size && sizeof(sockaddr_in6) <= address_size);
static_assert(sizeof(const_part) == sizeof(iovec) &&
              offsetof(const_part, size) == offsetof(iovec, iov_len));

namespace {

const sockaddr* as_system(const socket_address& address) noexcept {
    // SAFETY: `data` has the size and the alignment of the addresses that it holds.
    return reinterpret_cast<const sockaddr*>(address.data);
}
sockaddr* as_system(socket_address& address) noexcept {
    return reinterpret_cast<sockaddr*>(address.data); // SAFETY: as in the other overload.
}
// SAFETY: the bytes were written as an object of this type.
template <class T>
const T& as(const socket_address& address) noexcept {
    return *reinterpret_cast<const T*>(address.data);
}

sa_family_t family_of(const socket_address& address) noexcept {
    return address.size == 0 ? sa_family_t{AF_UNSPEC} : as_system(address)->sa_family;
}

int name_of(int (*ask)(int, sockaddr*, socklen_t*) noexcept, int descriptor,
            socket_address& into) noexcept {
    socklen_t size = address_size;
    const int result = int_result_of(ask(descriptor, as_system(into), &size));
    into.size = result < 0 ? 0 : std::min<std::uint32_t>(size, address_size);
    return result;
}

struct option_name {
    int level, name;
};
option_name name_of(socket_option which) noexcept {
    switch (which) {
    case socket_option::no_delay:
        return {IPPROTO_TCP, TCP_NODELAY};
    case socket_option::keep_alive:
        return {SOL_SOCKET, SO_KEEPALIVE};
    case socket_option::reuse_address:
        return {SOL_SOCKET, SO_REUSEADDR};
    case socket_option::reuse_port:
        return {SOL_SOCKET, SO_REUSEPORT};
    case socket_option::receive_buffer:
        return {SOL_SOCKET, SO_RCVBUF};
    case socket_option::send_buffer:
        return {SOL_SOCKET, SO_SNDBUF};
    case socket_option::ipv6_only:
        return {IPPROTO_IPV6, IPV6_V6ONLY};
    }
    return {};
}

} // namespace

bool parse_ip(const char* text, std::uint16_t port, socket_address& into) noexcept {
    sockaddr_in v4{};
    sockaddr_in6 v6{};
    if (::inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
        v4.sin_family = AF_INET;
        v4.sin_port = htons(port);
        std::memcpy(into.data, &v4, sizeof v4);
        into.size = sizeof v4;
        return true;
    }
    if (::inet_pton(AF_INET6, text, &v6.sin6_addr) != 1) return false;
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    std::memcpy(into.data, &v6, sizeof v6);
    into.size = sizeof v6;
    return true;
}

bool make_unix(const char* path, std::size_t length, socket_address& into) noexcept {
    sockaddr_un one{};
    if (length == 0 || length >= sizeof one.sun_path) return false;
    one.sun_family = AF_UNIX;
    std::memcpy(one.sun_path, path, length);
    const bool is_abstract = path[0] == '@';
    if (is_abstract) one.sun_path[0] = '\0';
    std::memcpy(into.data, &one, sizeof one);
    into.size = static_cast<std::uint32_t>(offsetof(sockaddr_un, sun_path) + length + !is_abstract);
    return true;
}

std::uint16_t port_of(const socket_address& address) noexcept {
    switch (family_of(address)) {
    case AF_INET:
        return ntohs(as<sockaddr_in>(address).sin_port);
    case AF_INET6:
        return ntohs(as<sockaddr_in6>(address).sin6_port);
    default:
        return 0;
    }
}

bool is_unix(const socket_address& address) noexcept {
    return family_of(address) == AF_UNIX;
}

std::string text_of(const socket_address& address) {
    char text[INET6_ADDRSTRLEN];
    switch (family_of(address)) {
    case AF_INET:
        ::inet_ntop(AF_INET, &as<sockaddr_in>(address).sin_addr, text, sizeof text);
        return std::string(text).append(":").append(std::to_string(port_of(address)));
    case AF_INET6:
        ::inet_ntop(AF_INET6, &as<sockaddr_in6>(address).sin6_addr, text, sizeof text);
        return std::string("[").append(text).append("]:").append(std::to_string(port_of(address)));
    case AF_UNIX: {
        const std::size_t begin = offsetof(sockaddr_un, sun_path);
        std::string result = "unix:";
        if (address.size <= begin) return result;
        const char* path = as<sockaddr_un>(address).sun_path;
        const std::size_t length = address.size - begin;
        if (path[0] != '\0') return result.append(path, ::strnlen(path, length));
        result += '@';
        return result.append(path + 1, length - 1);
    }
    default:
        return {};
    }
}

int open_stream_socket(const socket_address& like) noexcept {
    return int_result_of(::socket(family_of(like), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}
int bind_socket(int descriptor, const socket_address& to) noexcept {
    return int_result_of(::bind(descriptor, as_system(to), to.size));
}
int listen_socket(int descriptor, int backlog) noexcept {
    return int_result_of(::listen(descriptor, backlog));
}
int connect_socket(int descriptor, const socket_address& to) noexcept {
    return int_result_of(::connect(descriptor, as_system(to), to.size));
}
int accept_socket(int descriptor, socket_address& from) noexcept {
    socklen_t size = address_size;
    const int result =
        int_result_of(::accept4(descriptor, as_system(from), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    from.size = result < 0 ? 0 : std::min<std::uint32_t>(size, address_size);
    return result;
}
int pending_error(int descriptor) noexcept {
    int error = 0;
    socklen_t size = sizeof error;
    return ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) < 0 ? errno : error;
}
int shutdown_socket(int descriptor, bool writing) noexcept {
    return int_result_of(::shutdown(descriptor, writing ? SHUT_WR : SHUT_RD));
}
int reset_at_close(int descriptor) noexcept {
    const linger now{1, 0};
    return int_result_of(::setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, sizeof now));
}
int local_address(int descriptor, socket_address& into) noexcept {
    return name_of(&::getsockname, descriptor, into);
}
int remote_address(int descriptor, socket_address& into) noexcept {
    return name_of(&::getpeername, descriptor, into);
}
int set_option(int descriptor, socket_option which, int value) noexcept {
    const option_name one = name_of(which);
    return int_result_of(::setsockopt(descriptor, one.level, one.name, &value, sizeof value));
}
int get_option(int descriptor, socket_option which) noexcept {
    const option_name one = name_of(which);
    int value = 0;
    socklen_t size = sizeof value;
    const int result = int_result_of(::getsockopt(descriptor, one.level, one.name, &value, &size));
    return result < 0 ? result : value;
}
int make_socket_pair(int (&into)[2]) noexcept {
    return int_result_of(
        ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, into));
}
int make_pipe(int (&into)[2]) noexcept {
    return int_result_of(::pipe2(into, O_NONBLOCK | O_CLOEXEC));
}
int close_descriptor(int descriptor) noexcept {
    return int_result_of(::close(descriptor));
}
int remove_path(const char* path) noexcept {
    return int_result_of(::unlink(path));
}

std::ptrdiff_t receive(int descriptor, void* into, std::size_t size) noexcept {
    return result_of(::recv(descriptor, into, size, MSG_DONTWAIT));
}
std::ptrdiff_t send(int descriptor, const void* from, std::size_t size) noexcept {
    return result_of(::send(descriptor, from, size, MSG_DONTWAIT | MSG_NOSIGNAL));
}
std::ptrdiff_t send_parts(int descriptor, const const_part* parts, std::size_t count) noexcept {
    msghdr message{};
    // SAFETY: a const_part is laid out as an iovec (asserted above); sendmsg writes neither the
    // parts nor their bytes.
    message.msg_iov = const_cast<iovec*>(reinterpret_cast<const iovec*>(parts));
    message.msg_iovlen = std::min<std::size_t>(count, IOV_MAX);
    return result_of(::sendmsg(descriptor, &message, MSG_DONTWAIT | MSG_NOSIGNAL));
}
std::ptrdiff_t read_descriptor(int descriptor, void* into, std::size_t size) noexcept {
    return result_of(::read(descriptor, into, size));
}
std::ptrdiff_t write_descriptor(int descriptor, const void* from, std::size_t size) noexcept {
    without_sigpipe quiet;
    const std::ptrdiff_t result = result_of(::write(descriptor, from, size));
    if (result == -EPIPE) quiet.take_raised();
    return result;
}

bool would_block(std::ptrdiff_t result) noexcept {
    return result == -EAGAIN || result == -EWOULDBLOCK;
}
bool interrupted(std::ptrdiff_t result) noexcept {
    return result == -EINTR;
}
bool in_progress(std::ptrdiff_t result) noexcept {
    return result == -EINPROGRESS;
}
bool connection_went_away(std::ptrdiff_t result) noexcept {
    // accept(2), "Error handling": errors of the new connection, which Linux passes on.
    switch (-result) {
    case ECONNABORTED:
    case EPROTO:
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case EOPNOTSUPP:
    case ENETUNREACH:
        return true;
    default:
        return false;
    }
}
bool out_of_resources(int error) noexcept {
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

} // namespace sennit::sys
