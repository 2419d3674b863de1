// SPDX-License-Identifier: Apache-2.0
#include "sys/event_set.hpp"

#include "sennit/detail/base/atomic.hpp"
#include "sys/clock.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <utility>

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441 // Linux 5.11; the C library's headers may be older.
#endif

namespace sennit::sys {

static_assert(event_set::in == EPOLLIN && event_set::out == EPOLLOUT &&
              event_set::error == EPOLLERR && event_set::hang_up == EPOLLHUP &&
              event_set::peer_closed == EPOLLRDHUP);

namespace {

constexpr unsigned most_at_once = 64;
base::atomic<std::uint32_t> has_pwait2{1};

std::error_code last_error() noexcept {
    return {errno, std::generic_category()};
}

[[noreturn]] void refused(const char* what) {
    throw std::system_error(last_error(), what);
}

// A wait in nanoseconds where the kernel has one, and otherwise in milliseconds, rounded up.
int wait_for(int set, epoll_event* into, int most, std::int64_t left_ns) noexcept {
    // Orders nothing: a fact about the kernel.
    if (left_ns != 0 && left_ns != INT64_MAX && has_pwait2.load_rlx() != 0) {
        timespec left{};
        left.tv_sec = static_cast<time_t>(left_ns / 1'000'000'000);
        left.tv_nsec = static_cast<long>(left_ns % 1'000'000'000);
        const long found = ::syscall(SYS_epoll_pwait2, set, into, most, &left, nullptr, 0L);
        if (found >= 0 || (errno != ENOSYS && errno != EPERM)) return static_cast<int>(found);
        has_pwait2.store_rlx(0); // Orders nothing. A container's filter says EPERM.
    }
    constexpr std::int64_t ms = 1'000'000, longest_ms = 1'000'000'000;
    const int timeout =
        left_ns == INT64_MAX
            ? -1
            : static_cast<int>(std::min((left_ns / ms) + (left_ns % ms != 0), longest_ms));
    return ::epoll_wait(set, into, most, timeout);
}

} // namespace

bool is_ready(int descriptor, bool for_writing) noexcept {
    struct {
        int descriptor;
        short asked, found;
    } one{descriptor, static_cast<short>(for_writing ? EPOLLOUT : EPOLLIN), 0};
    const timespec now{};
    // SAFETY: the object is laid out as the kernel's pollfd, whose bits are those of epoll.
    return ::syscall(SYS_ppoll, &one, 1, &now, nullptr, std::size_t{8}) > 0;
}

event_set::event_set()
    : set_(::epoll_create1(EPOLL_CLOEXEC)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      outer_(::epoll_create1(EPOLL_CLOEXEC)) {
    epoll_event one{};
    one.events = EPOLLIN; // Not EPOLLET: see event_set.hpp.
    one.data.u64 = no_tag;
    if (set_ >= 0 && wake_ >= 0 && outer_ >= 0 &&
        ::epoll_ctl(set_, EPOLL_CTL_ADD, wake_, &one) == 0 &&
        ::epoll_ctl(outer_, EPOLL_CTL_ADD, set_, &one) == 0)
        return;
    const int refusal = errno;
    for (const int opened : {set_, wake_, outer_})
        if (opened >= 0) ::close(opened);
    errno = refusal;
    refused("sennit: [SNT-260] the system refused an epoll set or an eventfd for input and output; "
            "raise the limit of open files (ulimit -n)");
}

event_set::~event_set() {
    ::close(outer_);
    ::close(set_);
    ::close(wake_);
}

std::error_code event_set::add(int descriptor, std::uint32_t what, std::uint64_t tag) noexcept {
    epoll_event one{};
    one.events = what | EPOLLET;
    one.data.u64 = tag;
    return ::epoll_ctl(set_, EPOLL_CTL_ADD, descriptor, &one) == 0 ? std::error_code()
                                                                   : last_error();
}

std::error_code event_set::modify(int descriptor, std::uint32_t what, std::uint64_t tag) noexcept {
    epoll_event one{};
    one.events = what | EPOLLET;
    one.data.u64 = tag;
    return ::epoll_ctl(set_, EPOLL_CTL_MOD, descriptor, &one) == 0 ? std::error_code()
                                                                   : last_error();
}

void event_set::remove(int descriptor) noexcept {
    epoll_event unused{};
    ::epoll_ctl(set_, EPOLL_CTL_DEL, descriptor, &unused);
}

unsigned event_set::wait(descriptor_event* into, unsigned most, std::int64_t deadline_ns,
                         bool takes_wake) noexcept {
    const int saved = errno;
    epoll_event found[most_at_once];
    std::int64_t left = deadline_ns;
    if (deadline_ns != 0 && deadline_ns != INT64_MAX)
        left = std::max<std::int64_t>(deadline_ns - now_ns(), 0);
    const int count = wait_for(set_, found, static_cast<int>(std::min(most, most_at_once)), left);
    unsigned given = 0;
    for (int i = 0; i < count; ++i) {
        if (found[i].data.u64 != no_tag) {
            into[given++] = {found[i].data.u64, found[i].events};
        } else if (takes_wake) {
            std::uint64_t value;
            [[maybe_unused]] const ssize_t n = ::read(wake_, &value, sizeof value);
        }
    }
    errno = saved;
    return given;
}

void event_set::wake() noexcept {
    const int saved = errno;
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = ::write(wake_, &one, sizeof one); // Full: ready anyway.
    errno = saved;
}

bool event_set::ready() noexcept {
    const int saved = errno;
    epoll_event one;
    const bool found = ::epoll_wait(outer_, &one, 1, 0) > 0; // Takes no event of `set_`.
    errno = saved;
    return found;
}

} // namespace sennit::sys
