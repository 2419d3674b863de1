// SPDX-License-Identifier: Apache-2.0
#include "sys/datagram.hpp"

#include "sys/result.hpp"

#include <sys/socket.h>

#include <algorithm>

namespace sennit::sys {

int open_datagram_socket(const socket_address& like) noexcept {
    // SAFETY: `data` has the size and the alignment of the addresses that it holds.
    const int family =
        like.size == 0 ? AF_UNSPEC : reinterpret_cast<const sockaddr*>(like.data)->sa_family;
    return int_result_of(::socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}
int allow_broadcast(int descriptor) noexcept {
    const int on = 1;
    return int_result_of(::setsockopt(descriptor, SOL_SOCKET, SO_BROADCAST, &on, sizeof on));
}
std::ptrdiff_t send_datagram(int descriptor, const void* from, std::size_t size,
                             const socket_address& to) noexcept {
    // SAFETY: as in open_datagram_socket.
    const auto* address = to.size == 0 ? nullptr : reinterpret_cast<const sockaddr*>(to.data);
    return result_of(
        ::sendto(descriptor, from, size, MSG_DONTWAIT | MSG_NOSIGNAL, address, to.size));
}
std::ptrdiff_t receive_datagram(int descriptor, void* into, std::size_t size,
                                socket_address& from) noexcept {
    socklen_t length = address_size;
    // SAFETY: as in open_datagram_socket.
    const std::ptrdiff_t n = result_of(::recvfrom(descriptor, into, size, MSG_DONTWAIT | MSG_TRUNC,
                                                  reinterpret_cast<sockaddr*>(from.data), &length));
    from.size = n < 0 ? 0 : std::min<std::uint32_t>(length, address_size);
    return n;
}

} // namespace sennit::sys
