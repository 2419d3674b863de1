// SPDX-License-Identifier: Apache-2.0
#include "sennit/async_all.hpp"

#include "sennit/cancelled.hpp"

namespace sennit::detail {

void first_error::store(task_group& group, std::exception_ptr error) noexcept {
    std::uint32_t none = 0;
    // Orders nothing: the child's decrement of the group's count publishes the exception.
    if (!taken_.cas_rlx(none, 1)) return;
    error_ = std::move(error);
    group.scope().cancel();
}

bool is_cancelled(const std::exception_ptr& error) noexcept {
    try {
        std::rethrow_exception(error);
    } catch (const cancelled&) {
        return true;
    } catch (...) {
        return false;
    }
}

} // namespace sennit::detail
