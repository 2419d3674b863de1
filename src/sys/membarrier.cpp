// SPDX-License-Identifier: Apache-2.0
#include "sys/membarrier.hpp"

#include "sennit/detail/base/atomic.hpp"

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
base::atomic<std::uint64_t> passed_barriers{0};

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
        known = try_register() ? yes : no; // registering twice concurrently does no harm
        errno = saved;
        answer.store(known);
    }
    return known == yes;
}

bool barrier_all_threads() noexcept {
    const int saved = errno;
    bool passed = membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
    if (!passed) { // a child of fork() is not registered
        membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
        passed = membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
    }
    errno = saved;
    // A metric: orders nothing. A barrier costs some hundred times as much as this addition.
    if (passed) passed_barriers.fetch_add_rlx(1);
    return passed;
}

std::uint64_t barrier_count() noexcept {
    return passed_barriers.load_rlx(); // A metric: orders nothing.
}

} // namespace sennit::sys
