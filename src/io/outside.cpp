// SPDX-License-Identifier: Apache-2.0
#include "io/runtime/io_record.hpp"
#include "sennit/runtime.hpp"

namespace sennit::sched {

runtime_core& io_runtime_outside() {
    return default_runtime().core();
}

} // namespace sennit::sched
