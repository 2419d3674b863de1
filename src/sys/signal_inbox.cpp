// SPDX-License-Identifier: Apache-2.0
#include "sys/signal_inbox.hpp"

#include "sennit/detail/sys/atfork.hpp"
#include "sennit/detail/sys/spin_lock.hpp"
#include "sys/thread.hpp"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <mutex>

namespace sennit::sys {

namespace {
constinit base::spin_lock inboxes_lock; // Guards the opening and closing of inboxes.
const base::atfork_lock hold_inboxes(inboxes_lock);
constinit struct sigaction before[65]{}; // Written before the handler is installed.
constinit std::uint64_t handled = 0;     // Signals for which the handler is installed.
} // namespace

struct signal_inboxes {
    static void on_signal(int signal) noexcept {
        const int saved = errno;
        const std::uint64_t bit = signal_inbox::bit_of(signal);
        bool wanted = false;
        for (signal_inbox& one : all) {
            if (!in_use(one) || (one.wanted_.load() & bit) == 0) continue;
            one.deliver(bit);
            wanted = true;
        }
        if (!wanted) { // An inbox that has just closed, or the parent's.
            ::sigaction(signal, &before[signal], nullptr);
            ::raise(signal);
        }
        errno = saved;
    }

    // Requires the lock. Returns 0, or an error.
    static int install(std::uint64_t wanted) noexcept {
        const std::uint64_t already = handled;
        for (std::uint64_t left = wanted & ~already; left != 0; left &= left - 1) {
            const int signal = std::countr_zero(left) + 1;
            struct sigaction ours{};
            ours.sa_handler = &on_signal;
            ours.sa_flags = SA_RESTART | SA_ONSTACK;
            ::sigemptyset(&ours.sa_mask);
            if (::sigaction(signal, nullptr, &before[signal]) != 0 ||
                ::sigaction(signal, &ours, nullptr) != 0) {
                const int error = errno;
                restore(handled & ~already);
                return error;
            }
            handled |= signal_inbox::bit_of(signal);
        }
        return 0;
    }

    // Requires the lock. A handler that the program has installed since then stays.
    static void restore(std::uint64_t signals) noexcept {
        for (std::uint64_t left = signals & handled; left != 0; left &= left - 1) {
            const int signal = std::countr_zero(left) + 1;
            struct sigaction now{};
            if (::sigaction(signal, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 &&
                now.sa_handler == &on_signal)
                ::sigaction(signal, &before[signal], nullptr);
        }
        handled &= ~signals;
    }

    static bool in_use(const signal_inbox& one) noexcept {
        return one.wanted_.load() != 0 && one.generation_.load() == fork_generation();
    }

    static signal_inbox all[signal_inbox::max_inboxes];
};

constinit signal_inbox signal_inboxes::all[signal_inbox::max_inboxes]{};

signal_inbox* signal_inbox::open(std::uint64_t wanted, int& error) noexcept {
    // A handler that returns from a fault meets it again, for ever. SIGURG is Sennit's own.
    constexpr std::uint64_t refused =
        bit_of(SIGSEGV) | bit_of(SIGBUS) | bit_of(SIGFPE) | bit_of(SIGILL) | bit_of(SIGURG);
    error = EINVAL;
    if (wanted == 0 || (wanted & refused) != 0) return nullptr;
    std::lock_guard guard(inboxes_lock);
    error = EMFILE;
    for (signal_inbox& one : signal_inboxes::all) {
        if (signal_inboxes::in_use(one)) continue;
        // A child does not share its parent's eventfd, which the parent would read.
        if (one.descriptor_ >= 0 && one.generation_.load() != fork_generation()) {
            one.wanted_.store(0);
            ::close(one.descriptor_);
            one.descriptor_ = -1;
        }
        if (one.descriptor_ < 0) one.descriptor_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (one.descriptor_ < 0) {
            error = errno;
            return nullptr;
        }
        one.come_.store(0);
        one.generation_.store(fork_generation());
        one.wanted_.store(wanted);
        error = signal_inboxes::install(wanted);
        if (error == 0) return &one;
        one.wanted_.store(0);
        return nullptr;
    }
    return nullptr;
}

void signal_inbox::close() noexcept {
    std::lock_guard guard(inboxes_lock);
    if (!signal_inboxes::in_use(*this)) return;
    std::uint64_t unused = wanted_.load();
    wanted_.store(0);
    for (const signal_inbox& one : signal_inboxes::all)
        if (signal_inboxes::in_use(one)) unused &= ~one.wanted_.load();
    signal_inboxes::restore(unused);
}

void signal_inbox::deliver(std::uint64_t bit) noexcept {
    come_.fetch_or(bit);
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = ::write(descriptor_, &one, sizeof one); // Full: readable.
}

int signal_inbox::take() noexcept {
    for (int look = 0;; ++look) {
        std::uint64_t found = come_.load() & wanted_.load();
        while (found != 0) {
            const std::uint64_t first = found & (~found + 1);
            if ((come_.fetch_and(~first) & first) != 0) return std::countr_zero(first) + 1;
            found = come_.load() & wanted_.load();
        }
        if (look != 0) return 0;
        // A signal that comes after this read writes again. A signal from before was marked
        // before the write, so the second look finds it.
        std::uint64_t count;
        [[maybe_unused]] const ssize_t n = ::read(descriptor_, &count, sizeof count);
    }
}

const char* signal_name(int signal) noexcept {
    switch (signal) {
#define SENNIT_SIGNAL(name)                                                                        \
    case name:                                                                                     \
        return #name
        SENNIT_SIGNAL(SIGHUP);
        SENNIT_SIGNAL(SIGINT);
        SENNIT_SIGNAL(SIGQUIT);
        SENNIT_SIGNAL(SIGILL);
        SENNIT_SIGNAL(SIGTRAP);
        SENNIT_SIGNAL(SIGABRT);
        SENNIT_SIGNAL(SIGBUS);
        SENNIT_SIGNAL(SIGFPE);
        SENNIT_SIGNAL(SIGKILL);
        SENNIT_SIGNAL(SIGUSR1);
        SENNIT_SIGNAL(SIGSEGV);
        SENNIT_SIGNAL(SIGUSR2);
        SENNIT_SIGNAL(SIGPIPE);
        SENNIT_SIGNAL(SIGALRM);
        SENNIT_SIGNAL(SIGTERM);
        SENNIT_SIGNAL(SIGCHLD);
        SENNIT_SIGNAL(SIGWINCH);
        SENNIT_SIGNAL(SIGXCPU);
        SENNIT_SIGNAL(SIGXFSZ);
        SENNIT_SIGNAL(SIGSYS);
#undef SENNIT_SIGNAL
    default:
        return "a signal";
    }
}

} // namespace sennit::sys
