// SPDX-License-Identifier: Apache-2.0
// System calls on sockets of datagrams. Each returns a negative error number where it fails. None
// blocks.
#pragma once

#include "sys/socket.hpp"

#include <cstddef>

namespace sennit::sys {

int open_datagram_socket(const socket_address& like) noexcept;
int allow_broadcast(int descriptor) noexcept;
// To the address, or to the connected peer if its size is 0.
std::ptrdiff_t send_datagram(int descriptor, const void* from, std::size_t size,
                             const socket_address& to) noexcept;
// Returns the size of the datagram, which may be more than `size`.
std::ptrdiff_t receive_datagram(int descriptor, void* into, std::size_t size,
                                socket_address& from) noexcept;

} // namespace sennit::sys
