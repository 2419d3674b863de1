// SPDX-License-Identifier: Apache-2.0
// The wait of a blocked strand, for reports.
#pragma once

#include "sennit/detail/core/strand.hpp"

#include <cstdint>

namespace sennit::sched {

using holder_function = const void* (*)(const void* on) noexcept; // See wait_options::holder.

// The members of the wait's wait_options.
struct wait_details {
    const char* what;
    const void* on;
    std::int64_t deadline_ns;
    holder_function holder;
};
// The strand must be blocked, and stay so.
wait_details details_of(wait_record wait) noexcept;

// Returns a number from 1 up that stands for the function in the notes of a task; 0 if the program
// has too many such functions, and reports then name no holder. Any thread.
std::uint8_t number_of_holder(holder_function function) noexcept;

} // namespace sennit::sched
