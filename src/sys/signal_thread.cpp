// SPDX-License-Identifier: Apache-2.0
#include "sys/signal_thread.hpp"

#include "sennit/detail/sys/atfork.hpp"
#include "sennit/detail/sys/single_threaded.hpp"
#include "sys/environment.hpp"
#include "sys/futex.hpp"
#include "sys/thread.hpp"

#include <signal.h>

#include <cerrno>
#include <mutex>
#include <stdexcept>

namespace sennit::sys {

namespace {

struct name_of_signal {
    std::string_view name;
    int number;
};
constexpr name_of_signal names[] = {{"HUP", SIGHUP},       {"INT", SIGINT},   {"QUIT", SIGQUIT},
                                    {"USR1", SIGUSR1},     {"USR2", SIGUSR2}, {"TERM", SIGTERM},
                                    {"ALRM", SIGALRM},     {"IO", SIGIO},     {"PROF", SIGPROF},
                                    {"VTALRM", SIGVTALRM}, {"XCPU", SIGXCPU}, {"WINCH", SIGWINCH}};

void (*callback)() noexcept = nullptr; // written before the thread starts
// Written under a lock.
base::atomic<int> installed{0};
// The process to which the thread belongs. Guarded by that lock.
process_id thread_process = 0;
// 1: the signal has come.
base::atomic<std::uint32_t> signal_pending{0};
base::atomic<os_thread_id> os_thread{0};
base::atomic<std::uint32_t> ready{0};

void on_signal(int) {
    const int saved = errno;
    signal_pending.store(1);
    futex_wake(signal_pending, 1);
    errno = saved;
}

void wait_for_signals(void*) noexcept {
    thread::set_name("sennit-dump");
    os_thread.store(this_os_thread());
    ready.store(1);
    futex_wake(ready, 1);
    for (;;) {
        base::unregister_this_thread();
        while (signal_pending.load() == 0) futex_wait(signal_pending, 0);
        signal_pending.store(0);
        callback();
    }
}

constinit std::mutex choosing;
const base::atfork_lock hold_choosing(choosing);

// The caller holds that lock.
void start_thread() {
    ready.store(0);
    signal_pending.store(0); // the parent of a child handles the signals that came before
    thread waits(&wait_for_signals, nullptr);
    waits.disown(); // the thread ends with the process
    thread_process = this_process();
    while (ready.load() == 0) futex_wait(ready, 0);
}

} // namespace

int parse_signal(std::string_view name) noexcept {
    if (name.starts_with("SIG")) name.remove_prefix(3);
    for (const name_of_signal& one : names)
        if (one.name == name) return one.number;
    const auto number = parse_count(name);
    return number && *number <= static_cast<std::uint64_t>(SIGRTMAX) ? static_cast<int>(*number)
                                                                     : 0;
}

void call_on_signal(int signal, void (*function)() noexcept) {
    std::lock_guard guard(choosing);
    if (installed.load() == signal && signal != 0) {
        if (thread_process != this_process()) start_thread();
        return;
    }
    if (installed.load() != 0)
        throw std::invalid_argument(
            "sennit: [SNT-020] another signal writes the dumps already; choose one signal, in "
            "SENNIT_DUMP_SIGNAL or in obs::dump_on_signal");
    struct sigaction ours{};
    ours.sa_handler = &on_signal;
    ours.sa_flags = SA_RESTART | SA_ONSTACK;
    sigemptyset(&ours.sa_mask);
    struct sigaction before{};
    if (signal <= 0 || signal == SIGURG || ::sigaction(signal, &ours, &before) != 0)
        throw std::invalid_argument(
            "sennit: [SNT-021] signal " + std::to_string(signal) +
            " cannot be used for dumps; choose one that a program may handle and that Sennit does "
            "not use itself (SIGURG), such as SIGUSR1");
    callback = function;
    try {
        start_thread();
    } catch (...) {
        ::sigaction(signal, &before, nullptr);
        throw;
    }
    installed.store(signal);
}

bool restart_signal_thread() {
    if (installed.load() == 0) return false;
    std::lock_guard guard(choosing);
    if (thread_process == this_process()) return false;
    start_thread();
    return true;
}

int handled_signal() noexcept {
    const int signal = installed.load();
    struct sigaction now{};
    if (signal == 0 || ::sigaction(signal, nullptr, &now) != 0) return 0;
    return !(now.sa_flags & SA_SIGINFO) && now.sa_handler == &on_signal ? signal : 0;
}

os_thread_id signal_thread_id() noexcept {
    return os_thread.load();
}

} // namespace sennit::sys
