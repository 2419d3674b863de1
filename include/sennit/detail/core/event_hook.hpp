// SPDX-License-Identifier: Apache-2.0
// What a descriptor keeps for a wait for one of its events: the place of the result, where a strand
// waits, or a function to call, where none does.
#pragma once

#include "sennit/detail/core/timer.hpp"

#include <cstdint>

namespace sennit::sched {

enum class io_wake : std::uint8_t; // How the wait has ended: src/io/runtime/io_record.hpp.

// The data of a strand's entry in the list of a descriptor (wait_entry::data).
struct event_wait {
    io_wake result;
    std::int64_t deadline_ns = never; // The record ends the wait then, with io_wake::timed_out.
};

struct event_hook {
    // Called once, without a lock, by the thread that delivers the event or ends the wait. The
    // record does not know the hook any more, and is not used after the call. Must not block.
    void (*call)(event_hook& self, io_wake why) noexcept;
};

} // namespace sennit::sched
