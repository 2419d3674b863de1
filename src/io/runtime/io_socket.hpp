// SPDX-License-Identifier: Apache-2.0
// Operations on sockets, for io_run. The arguments must live until the operation has ended.
#pragma once

#include "io/runtime/io_call.hpp"
#include "sys/event_set.hpp" // IWYU pragma: export
#include "sys/socket.hpp"    // IWYU pragma: export

#include <span>

namespace sennit::sched {

// The result is the number of the new descriptor.
io_operation accept_connection(sys::socket_address& from) noexcept;
io_operation connect_to(const sys::socket_address& to) noexcept;

// The result is the number of bytes.
struct io_parts {
    const sys::const_part* parts;
    std::size_t count;
};
io_operation send_parts(io_parts& parts) noexcept;

// Does nothing once the descriptor is ready in this direction.
io_operation wait_for(io_direction direction) noexcept;

} // namespace sennit::sched
