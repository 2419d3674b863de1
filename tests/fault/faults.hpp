// SPDX-License-Identifier: Apache-2.0
// Makes the system refuse the N-th request of one kind, and counts what is alive.
//
// `operator new` is replaced for the whole program. The system calls are wrapped by the linker (see
// tests/CMakeLists.txt), so that only the library and the tests are refused anything, not libc or a
// sanitizer.
#pragma once

#include <iosfwd>

namespace faults {

enum class request {
    allocation,
    mapping,
    thread_creation,
    advice,
    protection,
    fork_handler,
    sleep,    // a futex wait returns at once, as after a signal
    barrier,  // membarrier
    affinity, // asking for, and binding to, processors
};
enum class extent { one, all_from_there };

const char* name(request what);
const char* name(extent how);

// From now on the `nth` request of this kind, in any thread, is refused (1: the next one), or all
// from the nth on.
void refuse(request what, long nth, extent how);

// Refusals since `refuse`.
long so_far();

// Refuses nothing any more. Returns the number of refusals since `refuse`.
long stop();

// What the process holds through the requests above.
struct account {
    long allocations;
    long mappings;
    long mapped_bytes;
    long threads;
    bool operator==(const account&) const = default;
};
std::ostream& operator<<(std::ostream& out, const account& what);

account balance();

} // namespace faults
