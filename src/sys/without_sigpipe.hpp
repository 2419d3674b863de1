// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <time.h>

#include <cerrno>

namespace sennit::sys {

// Blocks SIGPIPE for the calling thread while it lives. Takes a SIGPIPE that `write` has raised.
class without_sigpipe {
public:
    without_sigpipe() noexcept {
        sigset_t pending;
        ::sigemptyset(&pipe_);
        ::sigaddset(&pipe_, SIGPIPE);
        ::sigpending(&pending);
        was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
        ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
    }
    void take_raised() noexcept {
        if (was_pending_) return;
        const timespec now{};
        while (::sigtimedwait(&pipe_, nullptr, &now) < 0 && errno == EINTR) {
        }
    }
    ~without_sigpipe() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    without_sigpipe(const without_sigpipe&) = delete;

private:
    sigset_t pipe_, before_;
    bool was_pending_ = false;
};

} // namespace sennit::sys
