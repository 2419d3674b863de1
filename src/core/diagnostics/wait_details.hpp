// SPDX-License-Identifier: Apache-2.0
// The wait of a blocked strand, for reports.
#pragma once

#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/core/strand.hpp"

#include <array>
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

// The functions that find a holder, by their numbers less 1. The library has three: of mutexes, of
// monitors and of fibers.
extern constinit std::array<base::atomic<holder_function>, 8> holder_functions;
[[gnu::noinline]] std::uint8_t find_number_of_holder(holder_function function) noexcept;
// Returns a number from 1 up that stands for the function in the notes of a task; 0 if the program
// has too many such functions, and reports then name no holder. Any thread.
inline std::uint8_t number_of_holder(holder_function function) noexcept {
    // Orders nothing: only the value of the pointer matters.
    return holder_functions[0].load_rlx() == function ? 1 : find_number_of_holder(function);
}

} // namespace sennit::sched
