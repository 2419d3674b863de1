// SPDX-License-Identifier: Apache-2.0
// Dumps: the present state of every fiber of every runtime, as text. `runtime::dump` prints the
// state of one runtime.
//
// Use a dump to find out why a program makes no progress. The program can call it, for
// example in a handler of errors, or a signal can start it:
//
//     kill -USR1 PID   // with SENNIT_DUMP_SIGNAL=USR1, or after dump_on_signal(SIGUSR1)
//
// A dump has one line for each fiber, and for each other strand (a body of runtime::run, a stolen
// child). The line says:
// * its number, name and state;
// * the operation and the object that it waits for, and the task that would have to act if that is
//   known (the owner of a mutex, a fiber that is joined);
// * where it was created, how old it is, and how much stack it uses;
// * unless it runs, its position in the code.
// After these lines come the cycles of fibers that wait for each other.
//
// Thread safety: any thread or fiber may make a dump. The fibers stop while the dump is made (about
// 10 µs, and 1 µs for each blocked fiber). The signal SIGURG stops the workers. A system call of a
// worker that the kernel cannot restart then fails with EINTR. Signal handlers must not call dump.
// Cost to a program that makes no dump: two stores for each fiber.
#pragma once

#include <iosfwd>

namespace sennit::obs {

// Writes the state of all runtimes of the process. Throws std::bad_alloc and the exceptions of the
// stream.
void dump(std::ostream& out);

// From now on the signal makes a separate thread write a dump to standard error. May be called once
// in a process. The environment variable SENNIT_DUMP_SIGNAL (a name such as USR1 or SIGUSR1, or a
// number) has this effect at the start of the first runtime. In a child of fork() the signal works
// again from the child's first runtime on, or from a call with the same signal on; until then it
// has no effect. Throws std::invalid_argument for a signal that cannot be handled, or when another
// signal was given before. Throws std::system_error when the system refuses the thread.
void dump_on_signal(int signal);

} // namespace sennit::obs
