// SPDX-License-Identifier: Apache-2.0
// Runs work in its own process: changes that a failed execution leaves in objects of static
// duration end with that process.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <type_traits>

namespace sennit::sim {

// Calls `work` in a child process, and returns its result through `into`. Returns the status of a
// process that ended before it could answer, otherwise 0. Flush pending output before the call,
// because the process has a copy of it. Throws std::system_error.
template <class T, class F>
int apart(T& answer, F&& work) {
    static_assert(std::is_trivially_copyable_v<T>);
    int ends[2];
    if (::pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    const pid_t child = ::fork();
    if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (child == 0) {
        const T found = work();
        std::_Exit(::write(ends[1], &found, sizeof found) == sizeof found ? 0 : 1);
    }
    ::close(ends[1]);
    const bool told = ::read(ends[0], &answer, sizeof answer) == sizeof answer;
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    return told ? 0 : status;
}

} // namespace sennit::sim
