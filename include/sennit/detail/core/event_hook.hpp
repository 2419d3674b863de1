// SPDX-License-Identifier: Apache-2.0
// A function that an event of a descriptor calls, where no strand waits for the event.
#pragma once

#include <cstdint>

namespace sennit::sched {

enum class io_wake : std::uint8_t; // How the wait has ended: src/io/runtime/io_record.hpp.

struct event_hook {
    // Called once, without a lock, by the thread that delivers the event or ends the wait. The
    // record does not know the hook any more, and is not used after the call. Must not block.
    void (*call)(event_hook& self, io_wake why) noexcept;
};

} // namespace sennit::sched
