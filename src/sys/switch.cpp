// SPDX-License-Identifier: Apache-2.0
#include "sys/switch.hpp"

#include <utility>

namespace sennit::sys {

void keep_state(machine_context& from, exception_globals& globals) noexcept {
    from.exceptions = std::exchange(globals, {});
    if (!fp_control_is(from.fp_usual)) {
        from.fp_control = read_fp_control();
        write_fp_control(from.fp_usual);
    }
    from.keeps = true;
}

void restore_state(machine_context& to, exception_globals& globals) noexcept {
    globals = std::exchange(to.exceptions, {});
    if (to.fp_control != 0) write_fp_control(std::exchange(to.fp_control, 0));
    to.keeps = false;
}

} // namespace sennit::sys
