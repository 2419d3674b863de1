// SPDX-License-Identifier: Apache-2.0
// Makes the system refuse the N-th request of one kind, and counts live objects.
//
// `operator new` is replaced for the whole program. The linker wraps the system calls (see
// tests/CMakeLists.txt), so that refusals reach only the library and the tests, not libc or a
// sanitizer.
#pragma once

#include <iosfwd>

namespace faults {

enum class request {
    // A futex wait returns immediately, as after a signal.
    allocation,
    mapping,
    thread_creation,
    advice,
    protection,
    fork_handler,
    sleep,
    barrier,  // membarrier
    affinity, // asking for processors, and binding to them
    process,  // a descriptor for a process, as on an old kernel
};
enum class extent { one, all_from_there };

const char* name(request what);
const char* name(extent how);

// Refuses the `nth` request of this kind from now on, in any thread (1: the next one), or all
// requests from the nth on.
void refuse(request what, long nth, extent how);

// The number of refusals since `refuse`.
long so_far();

// Ends the refusals. Returns the number of refusals since `refuse`.
long stop();

// The resources that the process holds through the requests above.
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
