// SPDX-License-Identifier: Apache-2.0
// A set of descriptors whose readiness one thread may wait for: the kernel's epoll, with a
// descriptor beside them by which any thread ends such a wait.
//
// A descriptor is added edge-triggered: `wait` reports it once for each change to ready, and once
// if it is ready when it is added or modified. The descriptor that ends a wait is level-triggered:
// it stays ready until a `wait` with `takes_wake` has taken it, so no other wait loses it.
#pragma once

#include <cstdint>
#include <system_error>

namespace sennit::sys {

struct descriptor_event {
    std::uint64_t tag; // As given to `add` or `modify`.
    std::uint32_t what;
};

// True if a read, or a write, would not block, or would fail.
bool is_ready(int descriptor, bool for_writing) noexcept;

class event_set {
public:
    // Bits of `what`, those of epoll.
    static constexpr std::uint32_t in = 0x1, out = 0x4, error = 0x8, hang_up = 0x10,
                                   peer_closed = 0x2000;
    static constexpr std::uint64_t no_tag = UINT64_MAX; // Belongs to the set.

    event_set(); // Throws std::system_error.
    ~event_set();
    event_set(const event_set&) = delete;

    // Any thread.
    std::error_code add(int descriptor, std::uint32_t what, std::uint64_t tag) noexcept;
    std::error_code modify(int descriptor, std::uint32_t what, std::uint64_t tag) noexcept;
    void remove(int descriptor) noexcept;
    // Blocks until a descriptor is ready, `wake` was called, or the deadline has come (CLOCK_-
    // MONOTONIC; INT64_MAX: none; 0: does not block). Returns the number of events written to
    // `into`, at most `most` and 64. May return 0 without cause.
    unsigned wait(descriptor_event* into, unsigned most, std::int64_t deadline_ns,
                  bool takes_wake) noexcept;
    void wake() noexcept;
    bool ready() noexcept; // True if `wait` would not block.

private:
    int set_ = -1;
    int wake_ = -1;
    int outer_ = -1; // Watches `set_`, level-triggered.
};

} // namespace sennit::sys
