// SPDX-License-Identifier: Apache-2.0
#include "sys/report.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace sennit::sys {

void report(std::initializer_list<const char*> parts) noexcept {
    for (const char* part : parts) {
        std::size_t left = std::strlen(part);
        while (left > 0) {
            const ssize_t written = ::write(STDERR_FILENO, part, left);
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) return; // the reader is gone: nothing more can be done
            part += written;
            left -= static_cast<std::size_t>(written);
        }
    }
}

} // namespace sennit::sys
