// SPDX-License-Identifier: Apache-2.0
#include "sennit/io/signals.hpp"

#include "io/access.hpp"
#include "io/async_run.hpp"
#include "io/runtime/io_signal.hpp"
#include "sennit/io/stream.hpp"

#include <string>

namespace sennit::io {

using detail::handle_access;

namespace {

sys::signal_inbox& open_inbox(std::initializer_list<int> which) {
    std::string names;
    for (const int signal : which)
        names += (names.empty() ? "" : ", ") + std::string(sys::signal_name(signal)) + " (" +
                 std::to_string(signal) + ')';
    int error = 0;
    sys::signal_inbox* const made = sched::open_signal_inbox(which.begin(), which.size(), error);
    if (!made) throw io::error(detail::code_of(-error), "signals", names);
    return *made;
}

} // namespace

signals::signals(std::initializer_list<int> which) : arrivals_(&open_inbox(which)) {
    try {
        handle::operator=(
            handle_access::adopt<handle>(sched::io_record::make(arrivals_->descriptor(), false)));
    } catch (...) {
        arrivals_->close();
        throw;
    }
}

signals& signals::operator=(signals&& from) noexcept {
    if (this != &from) {
        if (arrivals_) arrivals_->close();
        handle::operator=(std::move(from));
        arrivals_ = std::exchange(from.arrivals_, nullptr);
    }
    return *this;
}

signals::~signals() {
    if (arrivals_) arrivals_->close();
}

int signals::wait(std::error_code& failed) {
    failed.clear();
    if (!arrivals_) failed = std::make_error_code(std::errc::bad_file_descriptor);
    if (failed) return 0;
    return static_cast<int>(detail::run(*this, sched::take_signal(*arrivals_), failed));
}

int signals::wait() {
    std::error_code failed;
    const int signal = wait(failed);
    detail::check(failed, "signals::wait", *this);
    return signal;
}

task<int> signals::async_wait() {
    if (!arrivals_)
        detail::check(std::make_error_code(std::errc::bad_file_descriptor), "async_wait", *this);
    co_return static_cast<int>(co_await detail::async_run(
        *handle_access::record(*this), sched::take_signal(*arrivals_), "async_wait", *this));
}

int signals::try_wait() noexcept {
    return arrivals_ && is_open() ? arrivals_->take() : 0;
}

} // namespace sennit::io
