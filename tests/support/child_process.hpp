// SPDX-License-Identifier: Apache-2.0
// For tests that change or end their process: runs a function in a child of fork().
#pragma once

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

// Returns the exit status that `body` returns in a child process; -1 if the child ended otherwise.
// No other thread of the calling process may hold a lock.
inline int status_of_child(const std::function<int()>& body) {
    const pid_t child = ::fork();
    if (child < 0) return -1;
    if (child == 0) {
        int status = 255;
        try {
            status = body();
            // The exit status reports the exception.
        } catch (...) {
        }
        // Not _exit: ThreadSanitizer would look there for threads that only the parent has, and
        // call them leaked.
        ::syscall(SYS_exit_group, status);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) != child) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Returns the exit status of a `body` that may hang; -1 after a minute.
inline int status_of_child_in_time(const std::function<int()>& body) {
    return status_of_child([&] {
        ::alarm(60);
        return body();
    });
}
