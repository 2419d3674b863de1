// SPDX-License-Identifier: Apache-2.0
#include "io/runtime/io_datagram.hpp"

namespace sennit::sched {

io_operation send_datagram(io_datagram& what) noexcept {
    return {.direction = io_direction::write,
            .what = "space for a datagram",
            .call = [](int to, void* argument) noexcept -> std::ptrdiff_t {
                const auto& one = *static_cast<io_datagram*>(argument);
                return with_blocking(sys::send_datagram(to, one.bytes, one.size, one.address));
            },
            .argument = &what};
}

io_operation receive_datagram(io_datagram& into) noexcept {
    return {.direction = io_direction::read,
            .what = "a datagram",
            .call = [](int from, void* argument) noexcept -> std::ptrdiff_t {
                auto& one = *static_cast<io_datagram*>(argument);
                return with_blocking(sys::receive_datagram(from, one.bytes, one.size, one.address));
            },
            .argument = &into};
}

} // namespace sennit::sched
