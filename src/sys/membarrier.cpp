// SPDX-License-Identifier: Apache-2.0
#include "sys/membarrier.hpp"

#include "sennit/base/atomic.hpp"
#include "sennit/base/check.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace sennit::sys {

namespace {

enum : int { unknown, no, yes };
base::atomic<int> answer{unknown};

long membarrier(int command) noexcept {
    return ::syscall(SYS_membarrier, command, 0u, 0);
}

bool try_register() noexcept {
    const char* refused = std::getenv("SENNIT_NO_MEMBARRIER");
    if (refused && std::strcmp(refused, "1") == 0) return false;
    return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
}

} // namespace

bool barrier_available() noexcept {
    int known = answer.load();
    if (known == unknown) {
        const int saved = errno;
        known = try_register() ? yes : no; // twice at the same time does no harm
        errno = saved;
        answer.store(known);
    }
    return known == yes;
}

void barrier_all_threads() noexcept {
    const int saved = errno;
    if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0) {
        // EPERM: a child of fork() is not registered. Anything else breaks the protocol that relies on us.
        membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
        SENNIT_CHECK(membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0, "membarrier failed after it was registered");
    }
    errno = saved;
}

} // namespace sennit::sys
