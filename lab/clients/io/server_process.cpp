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
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
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

std::string folder_of(pid_t process) {
    return "/proc/" + std::to_string(process) + "/";
}

// The number behind a name, in a file of /proc.
std::optional<std::uint64_t> figure(const std::string& path, const std::string& name) {
    std::ifstream from(path);
    for (std::string line; std::getline(from, line);)
        if (line.starts_with(name)) return std::strtoull(line.c_str() + name.size(), nullptr, 10);
    return {};
}
std::uint64_t required(std::optional<std::uint64_t> found, const char* name) {
    if (!found)
        throw std::runtime_error("/proc does not tell the server's " + std::string(name) +
                                 ": the server has ended, or belongs to another user");
    return *found;
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
    double all = 0;
    for (const pid_t one : family()) {
        clockid_t clock{};
        require(clock_getcpuclockid(one, &clock), "the clock of the server's processor time");
        timespec now{};
        if (::clock_gettime(clock, &now) != 0) require(errno, "clock_gettime of the server");
        all += static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
    }
    return all;
}

long server_process::peak_rss_kib() const {
    std::uint64_t kib = 0;
    for (const pid_t one : family())
        kib += required(figure(folder_of(one) + "status", "VmHWM:"), "peak of memory");
    return static_cast<long>(kib);
}

std::uint64_t server_process::memory() const {
    std::uint64_t kib = 0;
    for (const pid_t one : family())
        kib += required(figure(folder_of(one) + "smaps_rollup", "Pss:"), "memory");
    return kib * 1024;
}

std::uint64_t server_process::switches() const {
    std::uint64_t all = 0;
    for (const pid_t one : family())
        for (const auto& thread : std::filesystem::directory_iterator(folder_of(one) + "task")) {
            const std::string status = thread.path() / "status";
            for (const char* name : {"voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:"})
                all += required(figure(status, name), "switches");
        }
    return all;
}

std::vector<pid_t> server_process::family() const {
    std::vector<pid_t> all{pid_};
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::string task = folder_of(all[i]) + "task/" + std::to_string(all[i]);
        std::ifstream children(task + "/children");
        for (pid_t child = 0; children >> child;) all.push_back(child);
    }
    return all;
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
