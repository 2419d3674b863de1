// SPDX-License-Identifier: Apache-2.0
// Files, for the model, and the operation that sends one to a socket.
#pragma once

#include "io/runtime/io_call.hpp"
#include "sys/file.hpp" // IWYU pragma: export

#include <cstddef>
#include <cstdint>

namespace sennit::sched {

// The result is the number of bytes that the socket has taken; 0: the file ends at `offset`.
struct io_file_part {
    int file;
    std::uint64_t offset;
    std::size_t size;
};
io_operation send_file(io_file_part& part) noexcept;

} // namespace sennit::sched
