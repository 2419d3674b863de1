// SPDX-License-Identifier: Apache-2.0
#include "io/runtime/io_file.hpp"

namespace sennit::sched {

io_operation send_file(io_file_part& part) noexcept {
    return {.direction = io_direction::write,
            .what = "space on a socket",
            .call = [](int to, void* argument) noexcept -> std::ptrdiff_t {
                const auto& from = *static_cast<io_file_part*>(argument);
                return with_blocking(sys::send_file(to, from.file, from.offset, from.size));
            },
            .argument = &part};
}

} // namespace sennit::sched
