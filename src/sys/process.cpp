// SPDX-License-Identifier: Apache-2.0
#include "sys/process.hpp"

#include "sys/result.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434 // The C library's headers may be older.
#endif

extern char** environ;

namespace sennit::sys {

static_assert(signal_kill == SIGKILL && signal_terminate == SIGTERM);

namespace {

std::vector<std::string> environment_of(const spawn_request& what) {
    std::vector<std::string> made;
    for (char** one = environ; what.inherit_environment && one && *one; ++one) {
        const std::string_view entry = *one;
        const std::string_view name = entry.substr(0, entry.find('='));
        if (std::none_of(what.variables.begin(), what.variables.end(),
                         [&](const auto& given) { return given.first == name; }))
            made.emplace_back(entry);
    }
    for (const auto& [name, value] : what.variables) made.push_back(name + '=' + value);
    return made;
}

// The system's form of a list of texts, which must live longer.
std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
    std::vector<char*> made;
    made.reserve(texts.size() + 1);
    // SAFETY: exec reads the texts only.
    for (const std::string& one : texts) made.push_back(const_cast<char*>(one.c_str()));
    made.push_back(nullptr);
    return made;
}

class spawn_actions {
public:
    spawn_actions() noexcept {
        error_ = ::posix_spawn_file_actions_init(&actions_);
        if (error_ == 0) error_ = ::posix_spawnattr_init(&attributes_);
    }
    ~spawn_actions() {
        ::posix_spawn_file_actions_destroy(&actions_);
        ::posix_spawnattr_destroy(&attributes_);
    }
    spawn_actions(const spawn_actions&) = delete;

    int spawn(const spawn_request& what, char* const* arguments, char* const* variables) noexcept {
        if (!what.directory.empty())
            note(::posix_spawn_file_actions_addchdir_np(&actions_, what.directory.c_str()));
        for (int i = 0; i < 3; ++i)
            if (what.streams[i] >= 0)
                note(::posix_spawn_file_actions_adddup2(&actions_, what.streams[i], i));
        if (what.error_to_output) note(::posix_spawn_file_actions_adddup2(&actions_, 1, 2));
        sigset_t none, pipe;
        ::sigemptyset(&none);
        ::sigemptyset(&pipe);
        ::sigaddset(&pipe, SIGPIPE);
        note(::posix_spawnattr_setsigmask(&attributes_, &none));
        note(::posix_spawnattr_setsigdefault(&attributes_, &pipe));
        note(::posix_spawnattr_setpgroup(&attributes_, 0));
        const int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                          (what.own_group ? POSIX_SPAWN_SETPGROUP : 0);
        note(::posix_spawnattr_setflags(&attributes_, static_cast<short>(flags)));
        pid_t made = 0;
        if (error_ == 0)
            error_ =
                ::posix_spawnp(&made, arguments[0], &actions_, &attributes_, arguments, variables);
        return error_ == 0 ? made : -error_;
    }

private:
    void note(int error) noexcept {
        if (error_ == 0) error_ = error;
    }
    posix_spawn_file_actions_t actions_;
    posix_spawnattr_t attributes_;
    int error_ = 0;
};

} // namespace

int spawn_process(const spawn_request& what) {
    if (what.arguments.empty()) return -EINVAL;
    const std::vector<std::string> environment = environment_of(what);
    spawn_actions how;
    return how.spawn(what, pointers_to(what.arguments).data(), pointers_to(environment).data());
}

int open_process(int process) noexcept {
    const long made = ::syscall(SYS_pidfd_open, process, 0U); // Closes at exec by itself.
    return int_result_of(made);
}

int reap_process(int process, bool block, exit_report& into) noexcept {
    siginfo_t found{};
    int result;
    do
        result = ::waitid(P_PID, static_cast<id_t>(process), &found,
                          block ? WEXITED : WEXITED | WNOHANG);
    while (result < 0 && errno == EINTR);
    if (result < 0) return -errno;
    if (found.si_pid == 0) return 0;
    if (found.si_code == CLD_EXITED)
        into.code = found.si_status;
    else
        into.signal = found.si_status;
    return 1;
}

int signal_process(int process, int signal, bool group) noexcept {
    return int_result_of(::kill(group ? -process : process, signal));
}

int duplicate_descriptor(int descriptor) noexcept {
    const int made = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    return int_result_of(made);
}

int make_child_pipe(int (&into)[2], bool child_reads) noexcept {
    if (::pipe2(into, O_CLOEXEC) < 0) return -errno;
    int& childs = into[child_reads ? 0 : 1];
    const int ours = into[child_reads ? 1 : 0];
    // A number below 3 would be the source and the target of a dup2 in the child.
    const int moved = childs < 3 ? duplicate_descriptor(childs) : childs;
    if (moved >= 0 && moved != childs) ::close(std::exchange(childs, moved));
    if (moved >= 0 && ::fcntl(ours, F_SETFL, O_NONBLOCK) == 0) return 0;
    const int error = moved < 0 ? -moved : errno;
    ::close(into[0]);
    ::close(into[1]);
    return -error;
}

int open_null_device() noexcept {
    const int made = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (made < 0) return -errno;
    if (made >= 3) return made;
    const int moved = duplicate_descriptor(made);
    ::close(made);
    return moved;
}

} // namespace sennit::sys
