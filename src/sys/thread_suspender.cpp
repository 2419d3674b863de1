// SPDX-License-Identifier: Apache-2.0
#include "sys/thread_suspender.hpp"

#include "sennit/detail/sys/atfork.hpp"
#include "sennit/detail/sys/worker_tls.hpp"
#include "sys/clock.hpp"
#include "sys/futex.hpp"

#include <link.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <mutex>

namespace sennit::sys {

namespace {

struct sigaction previous;
// No thread is inside the loader when fork() runs. Otherwise the child would find the loader's lock
// taken forever, because the C library leaves that lock unchanged.
std::mutex loader_in_use;
const base::atfork_lock hold_loader(loader_in_use);

// ThreadSanitizer delays a handler until the thread's next atomic access. A sleeper reaches that
// access only if its system call is not restarted. A thread that was about to make the system call
// when the signal came reaches it only after another signal.
#ifdef SENNIT_THREAD_SANITIZER
constexpr int restart = 0;
constexpr std::int64_t send_again_ns = 10'000'000;
#else
constexpr int restart = SA_RESTART;
constexpr std::int64_t send_again_ns = std::numeric_limits<std::int64_t>::max();
#endif

code_position position_of(const ucontext_t& machine) noexcept {
    code_position where;
    // SAFETY: register contents are addresses, and this code does not dereference them.
#if defined(__x86_64__)
    where.pc = reinterpret_cast<const void*>(machine.uc_mcontext.gregs[REG_RIP]);
    where.sp = reinterpret_cast<const std::byte*>(machine.uc_mcontext.gregs[REG_RSP]);
#else
    where.pc = reinterpret_cast<const void*>(machine.uc_mcontext.pc);
    where.sp = reinterpret_cast<const std::byte*>(machine.uc_mcontext.sp);
#endif
    where.handler_sp = static_cast<const std::byte*>(__builtin_frame_address(0));
    return where;
}

bool is_default_or_ignored(const struct sigaction& one) noexcept {
    return !(one.sa_flags & SA_SIGINFO) && (one.sa_handler == SIG_DFL || one.sa_handler == SIG_IGN);
}

void handle(int number, siginfo_t* info, void* machine) {
    if (info->si_code == SI_QUEUE && info->si_pid == ::getpid() && info->si_value.sival_ptr) {
        const int saved = errno;
        static_cast<thread_suspender*>(info->si_value.sival_ptr)
            ->suspend_here(position_of(*static_cast<ucontext_t*>(machine)));
        errno = saved;
        return;
    }
    if (previous.sa_flags & SA_SIGINFO)
        previous.sa_sigaction(number, info, machine);
    else if (!is_default_or_ignored(previous))
        previous.sa_handler(number);
}

bool is_our_handler(const struct sigaction& one) noexcept {
    return (one.sa_flags & SA_SIGINFO) && one.sa_sigaction == &handle;
}

struct sigaction current() noexcept {
    struct sigaction now{};
    ::sigaction(SIGURG, nullptr, &now);
    return now;
}

} // namespace

int thread_suspender_signal() noexcept {
    return is_our_handler(current()) && is_default_or_ignored(previous) ? SIGURG : 0;
}

void install_thread_suspender() noexcept {
    const struct sigaction now = current();
    if (is_our_handler(now)) return;
    previous = now;
    struct sigaction ours{};
    ours.sa_sigaction = &handle;
    // On the signal stack: a fiber's stack may have little room left.
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | restart;
    sigfillset(&ours.sa_mask);
    ::sigaction(SIGURG, &ours, nullptr);
}

void allow_thread_suspension() noexcept {
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, SIGURG);
    ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
}

bool thread_suspender::request(pthread_t whom) noexcept {
    state_.store(requested);
    if (send(whom)) return true;
    state_.store(running);
    return false;
}

bool thread_suspender::send(pthread_t whom) noexcept {
    sigval value{};
    value.sival_ptr = this;
    return ::pthread_sigqueue(whom, SIGURG, value) == 0;
}

bool thread_suspender::wait_until(pthread_t whom, std::int64_t deadline_ns) noexcept {
    for (;;) {
        if (state_.load() == suspended) return true;
        const std::int64_t now = now_ns();
        const bool again = deadline_ns - now > send_again_ns;
        if (futex_wait_until(state_, requested, again ? now + send_again_ns : deadline_ns))
            continue;
        if (!again) {
            std::uint32_t seen = requested;
            return !state_.cas(seen, running); // the thread may have stopped in the last moment
        }
        // A thread that has stopped meanwhile finds, when it resumes, that this signal came too
        // late.
        (void)send(whom);
    }
}

void thread_suspender::resume() noexcept {
    state_.store(running);
    futex_wake(state_, 1);
}

void thread_suspender::suspend_here(const code_position& where) noexcept {
    if (state_.load() != requested) return; // a signal that came too late
    where_ = where;
    std::uint32_t seen = requested;
    if (!state_.cas(seen, suspended)) return;
    futex_wake(state_, 1);
    while (state_.load() == suspended) futex_wait(state_, suspended);
}

void with_loader_locked(void (*function)(void*), void* argument) noexcept {
    struct call {
        void (*function)(void*);
        void* argument;
    } what{function, argument};
    std::lock_guard guard(loader_in_use);
    // The loader holds its lock during the callback, and the thread that owns the lock may enter
    // again.
    ::dl_iterate_phdr(
        [](dl_phdr_info*, std::size_t, void* given) {
            auto& mine = *static_cast<call*>(given);
            mine.function(mine.argument);
            return 1; // stops the iteration after the first call
        },
        &what);
}

} // namespace sennit::sys
