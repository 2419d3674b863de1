// SPDX-License-Identifier: Apache-2.0
#include "sys/kernel_threads.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace sennit::sys {

os_thread_id this_os_thread() noexcept {
    return static_cast<os_thread_id>(::syscall(SYS_gettid));
}

pthread_t this_thread_handle() noexcept {
    return ::pthread_self();
}

bool is_main_thread() noexcept {
    static thread_local const bool is_main = this_os_thread() == this_process();
    return is_main;
}

process_id this_process() noexcept {
    return ::getpid();
}

std::vector<os_thread_id> list_os_threads() {
    std::vector<os_thread_id> found;
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc/self/task"), &::closedir);
    if (!folder) return found;
    while (const dirent* entry = ::readdir(folder.get()))
        if (entry->d_name[0] != '.') found.push_back(std::atoi(entry->d_name));
    return found;
}

bool catches_signals(int except, int or_except) noexcept {
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> status(std::fopen("/proc/self/status", "re"),
                                                           &std::fclose);
    if (!status) return true;
    char line[256];
    while (std::fgets(line, sizeof line, status.get())) {
        unsigned long long caught = 0;
        if (std::sscanf(line, "SigCgt: %llx", &caught) != 1) continue;
        for (const int number :
             {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, 32, 33, except, or_except})
            if (number > 0) caught &= ~(1ull << (number - 1));
        return caught != 0;
    }
    return true;
}

bool is_blocked(os_thread_id one) noexcept {
    char text[256];
    std::snprintf(text, sizeof text, "/proc/self/task/%d/stat", one);
    const int file = ::open(text, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    const ssize_t length = ::read(file, text, sizeof text - 1);
    ::close(file);
    if (length <= 0) return false;
    text[length] = '\0';
    const char* end_of_name = std::strrchr(text, ')'); // the name may contain any characters
    return end_of_name && end_of_name[1] == ' ' && (end_of_name[2] == 'S' || end_of_name[2] == 'D');
}

std::int64_t cpu_time_ns(pthread_t thread) noexcept {
    clockid_t clock{};
    timespec now{};
    if (::pthread_getcpuclockid(thread, &clock) != 0 || ::clock_gettime(clock, &now) != 0) return 0;
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void end_process(int status) noexcept {
    std::fflush(nullptr);
    std::_Exit(status);
}

} // namespace sennit::sys
