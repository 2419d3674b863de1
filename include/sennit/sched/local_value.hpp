// SPDX-License-Identifier: Apache-2.0
// One value that belongs to one activity: a link in the activity's list.
#pragma once

#include "sennit/sched/activity.hpp"

namespace sennit::sched {

struct local_value {
    const void* key;
    void (*destroy)(local_value*) noexcept; // frees the node as well
    local_value* next;
};

// The head of the running activity's list; on threads that are no workers, of the thread's, which is destroyed with the
// thread.
local_value*& current_locals() noexcept;
// Puts one more there.
void add_local(local_value& fresh) noexcept;

} // namespace sennit::sched
