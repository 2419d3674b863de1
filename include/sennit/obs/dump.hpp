// SPDX-License-Identifier: Apache-2.0
// Dumps: what every fiber of every runtime does at this moment, as text. `runtime::dump` gives that
// of one runtime.
//
// Use it to find out what a program that does not get on waits for; by hand, from a handler of
// errors, or by a signal:
//
//     kill -USR1 PID          // SENNIT_DUMP_SIGNAL=USR1 in the environment, or
//     dump_on_signal(SIGUSR1)
//
// A line for each fiber, and for each other strand (a body of runtime::run, a stolen child): its
// number and name, what it does, what it waits for and on which object, who would have to act if
// that is known (the owner of a mutex, a fiber that is joined), where it was made, how old it is,
// how much stack it uses, and, unless it runs, where it stands. Then the circles of fibers that
// wait for each other.
//
// Thread safety: any thread, also fibers. The fibers do not run while they are looked at (some 10
// us, and 1 us for each blocked one): the workers are stopped by a signal, SIGURG, in which a
// system call of theirs that the kernel cannot restart fails with EINTR. Not to be called from
// signal handlers. Cost to a program that does not call it: none, but two stores for each fiber.
#pragma once

#include <iosfwd>

namespace sennit::obs {

// All runtimes of the process. Throws std::bad_alloc, and what the stream throws.
void dump(std::ostream& out);

// From now on the signal makes a thread of its own write a dump to standard error. Once in a
// process; SENNIT_DUMP_SIGNAL (a name such as USR1 or SIGUSR1, or a number) does it at the start of
// the first runtime. In a child of fork() it works again from its first runtime, or the same call,
// on; until then the signal does nothing. Throws std::invalid_argument for a signal that cannot be
// handled or when another one was given before, std::system_error when the thread is refused.
void dump_on_signal(int signal);

} // namespace sennit::obs
