// SPDX-License-Identifier: Apache-2.0
// One value that belongs to one strand: a node in the strand's list.
#pragma once

#include "sennit/detail/core/strand.hpp"

#include <cstdint>

namespace sennit::sched {

// Identifies one fiber_local. A number and not its address: a later fiber_local may be made at the
// same address while fibers still hold values of the first.
using local_key = std::uint64_t;
// Returns a key that no other call in this process returns. Thread-safe.
local_key new_local_key() noexcept;

struct local_value {
    local_key key;
    void (*destroy)(local_value*) noexcept; // frees the node as well
    local_value* next;
};

// The head of the running strand's list. On a thread that is not a worker, the head of the thread's
// list, which is destroyed with the thread.
local_value*& current_locals() noexcept;
// Adds a value to the running strand's list.
void add_local(local_value& fresh) noexcept;

} // namespace sennit::sched
