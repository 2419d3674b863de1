// SPDX-License-Identifier: Apache-2.0
#include "server_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>

extern char** environ;

namespace lab::io {

namespace {

void require(int error, const char* operation) {
    if (error != 0) throw std::system_error(error, std::generic_category(), operation);
}

struct pipe_ends {
    int read = -1, write = -1;
};
pipe_ends open_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) require(errno, "pipe2");
    return {ends[0], ends[1]};
}

pid_t spawn(const std::vector<std::string>& command, int input, int output) {
    std::vector<char*> arguments;
    for (const std::string& one : command) arguments.push_back(const_cast<char*>(one.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    require(posix_spawn_file_actions_init(&actions), "posix_spawn_file_actions_init");
    require(posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO), "adddup2");
    require(posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO), "adddup2");
    pid_t pid = -1;
    const int error =
        posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    require(error, arguments[0]);
    return pid;
}

// The first line that the server prints, or as much of it as comes before the end.
std::string first_line(int from) {
    std::string line;
    for (char next = 0;;) {
        const ssize_t n = ::read(from, &next, 1);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0 || next == '\n') return line;
        line += next;
    }
}

} // namespace

server_process::server_process(const std::vector<std::string>& command) {
    const pipe_ends input = open_pipe(), output = open_pipe();
    pid_ = spawn(command, input.read, output.write);
    input_ = input.write;
    ::close(input.read);
    ::close(output.write);
    const std::string line = first_line(output.read);
    ::close(output.read);
    const std::string prefix = "port ";
    const int port = line.starts_with(prefix) ? std::atoi(line.c_str() + prefix.size()) : 0;
    if (port > 0 && port < 65536) {
        port_ = static_cast<std::uint16_t>(port);
        return;
    }
    ::close(std::exchange(input_, -1));
    if (!line.empty()) ::kill(pid_, SIGKILL);
    const std::string end = wait();
    throw std::runtime_error("the server named no port: " +
                             (line.empty() ? end.empty() ? "it ended" : end
                                           : "it printed '" + line.substr(0, 80) + "'"));
}

server_process::~server_process() {
    if (input_ >= 0) ::close(input_);
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    (void)wait();
}

double server_process::cpu_seconds() const {
    clockid_t clock{};
    require(clock_getcpuclockid(pid_, &clock), "the clock of the server's processor time");
    timespec now{};
    if (::clock_gettime(clock, &now) != 0) require(errno, "clock_gettime of the server");
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

long server_process::peak_rss_kib() const {
    std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
    for (std::string line; std::getline(status, line);)
        if (line.rfind("VmHWM:", 0) == 0) return std::atol(line.c_str() + 6);
    throw std::runtime_error("/proc has no peak of the server's memory: it has ended");
}

void server_process::end() {
    ::close(std::exchange(input_, -1));
    const std::string how = wait();
    if (!how.empty()) throw std::runtime_error("at the end of its input, " + how);
}

std::string server_process::wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0)
        if (errno != EINTR) require(errno, "waitpid of the server");
    pid_ = -1;
    if (WIFSIGNALED(status))
        return "the server was ended by signal " + std::to_string(WTERMSIG(status));
    if (WEXITSTATUS(status) != 0)
        return "the server ended with status " + std::to_string(WEXITSTATUS(status));
    return {};
}

} // namespace lab::io
