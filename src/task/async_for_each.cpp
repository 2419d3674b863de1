// SPDX-License-Identifier: Apache-2.0
#include "sennit/async_for_each.hpp"

namespace sennit::detail {

void refuse_zero_tasks() {
    throw std::invalid_argument("sennit: [SNT-243] async_for_each: at most 0 tasks at a time would "
                                "never end; pass 1 or more");
}

} // namespace sennit::detail
