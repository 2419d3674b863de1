// SPDX-License-Identifier: Apache-2.0
#include "sys/processor.hpp"

#include <sched.h>

namespace sennit::sys {

int current_processor() noexcept {
    return sched_getcpu();
}

bool leave_processor(int number, unsigned threads) noexcept {
    cpu_set_t all;
    if (number < 0 || number >= CPU_SETSIZE || sched_getaffinity(0, sizeof all, &all) != 0)
        return false;
    const auto count = static_cast<unsigned>(CPU_COUNT(&all));
    if (count < 2 || count < threads) return false;
    cpu_set_t others = all;
    CPU_CLR(static_cast<unsigned>(number), &others);
    if (sched_setaffinity(0, sizeof others, &others) != 0) return false;
    (void)sched_setaffinity(0, sizeof all, &all);
    return true;
}

} // namespace sennit::sys
