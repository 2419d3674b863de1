// SPDX-License-Identifier: Apache-2.0
#include "io/runtime/io_socket.hpp"

namespace sennit::sched {

io_operation accept_connection(sys::socket_address& from) noexcept {
    return {.direction = io_direction::read,
            .what = "a connection",
            .call = [](int listener, void* argument) noexcept -> std::ptrdiff_t {
                auto& peer = *static_cast<sys::socket_address*>(argument);
                for (;;) {
                    const std::ptrdiff_t result = sys::accept_socket(listener, peer);
                    if (sys::connection_went_away(result)) continue;
                    return with_blocking(result);
                }
            },
            .argument = &from};
}

// The call is repeated after the wait: it then says how the attempt has ended.
io_operation connect_to(const sys::socket_address& to) noexcept {
    return {.direction = io_direction::write,
            .what = "a connection to a server",
            .call = [](int socket, void* argument) noexcept -> std::ptrdiff_t {
                const auto& address = *static_cast<const sys::socket_address*>(argument);
                const std::ptrdiff_t result = sys::connect_socket(socket, address);
                return sys::in_progress(result) ? io_would_block : result;
            },
            // SAFETY: the call above only reads the address.
            .argument = const_cast<sys::socket_address*>(&to)};
}

io_operation send_parts(io_parts& parts) noexcept {
    return {.direction = io_direction::write,
            .what = "space on a socket",
            .call = [](int to, void* argument) noexcept -> std::ptrdiff_t {
                const auto& from = *static_cast<io_parts*>(argument);
                return with_blocking(sys::send_parts(to, from.parts, from.count));
            },
            .argument = &parts};
}

// The call asks the system, because the event of a descriptor that another library did not empty
// has come before.
io_operation wait_for(io_direction direction) noexcept {
    if (direction == io_direction::read)
        return {.direction = direction,
                .what = "a readable descriptor",
                .call = [](int of, void*) noexcept -> std::ptrdiff_t {
                    return sys::is_ready(of, false) ? 0 : io_would_block;
                },
                .argument = nullptr};
    return {.direction = direction,
            .what = "a writable descriptor",
            .call = [](int of, void*) noexcept -> std::ptrdiff_t {
                return sys::is_ready(of, true) ? 0 : io_would_block;
            },
            .argument = nullptr};
}

} // namespace sennit::sched
