// SPDX-License-Identifier: Apache-2.0
// Operations on sockets of datagrams, for io_run. The arguments must live until the operation has
// ended.
#pragma once

#include "io/runtime/io_call.hpp"
#include "sys/datagram.hpp" // IWYU pragma: export

namespace sennit::sched {

struct io_datagram {
    void* bytes; // Only read by send_datagram.
    std::size_t size;
    sys::socket_address address{}; // Of the receiver, or of the sender.
};
io_operation send_datagram(io_datagram& what) noexcept;
// The result is the size of the datagram, which may be more than there was room for.
io_operation receive_datagram(io_datagram& into) noexcept;

} // namespace sennit::sched
