// SPDX-License-Identifier: Apache-2.0
#include "sennit/detail/core/now.hpp"

#include "sys/clock.hpp"

namespace sennit::sched {

std::int64_t now_ns() noexcept {
    return sys::now_ns();
}

} // namespace sennit::sched
