// SPDX-License-Identifier: Apache-2.0
#include "sennit/async_fork_each.hpp"

#include "sennit/detail/base/check.hpp"

#include <mutex>
#include <utility>

namespace sennit::detail {

void first_in_order::store(std::uint32_t index, std::exception_ptr error) noexcept {
    std::lock_guard guard(lock_);
    if (error_ && index_ < index) return;
    index_ = index;
    std::swap(error_, error); // The other exception is destroyed after the lock's release.
}

std::uint32_t checked_fork_count(std::size_t count) noexcept {
    SENNIT_CHECK(count <= UINT32_MAX,
                 "[SNT-244] async_fork_each: there are more than 2^32 - 1 children; divide the "
                 "range, and let each child run a part of it");
    return static_cast<std::uint32_t>(count);
}

} // namespace sennit::detail
