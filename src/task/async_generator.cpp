// SPDX-License-Identifier: Apache-2.0
#include "sennit/async_generator.hpp"

#include "sennit/detail/base/check.hpp"

namespace sennit::detail {

void refuse_second_next() noexcept {
    base::fail("[SNT-245] async_generator::next was awaited while another task awaits the next "
               "value; let one task at a time consume a generator, or use a channel",
               __FILE__, __LINE__);
}

void refuse_end_of_running_generator() noexcept {
    base::fail(
        "[SNT-246] an async_generator was destroyed while a task awaits its next value; keep "
        "the generator until the await has returned",
        __FILE__, __LINE__);
}

} // namespace sennit::detail
