// SPDX-License-Identifier: Apache-2.0
// io::handle: the common part of streams, listeners and pipes: an open descriptor that closes at
// its end.
//
// Thread safety. Two strands may use a handle at a time, for example a reader and a writer. Any
// strand may call `close` and `cancel` meanwhile. Moving, assigning and destroying
// require that no other strand uses the handle. The descriptor's number is not free for other files
// before the last call on it has returned.
#pragma once

#include "sennit/detail/core/timer.hpp"

#include <chrono>
#include <cstdint>
#include <utility>

namespace sennit::sched {
class io_record;
}

namespace sennit::io {

namespace detail {
struct handle_access;

// A limit in ns, never rounded down; 0 if it is not positive.
template <class Rep, class Period>
std::int64_t limit_of(const std::chrono::duration<Rep, Period>& limit) noexcept {
    using ns = std::chrono::nanoseconds;
    if (!(limit > limit.zero())) return 0;
    if (std::chrono::duration<double>(limit) > std::chrono::duration<double>(ns::max()) / 2)
        return sched::never;
    return std::chrono::ceil<ns>(limit).count();
}
} // namespace detail

class handle {
public:
    handle() noexcept = default; // Closed.
    handle(handle&& from) noexcept : record_(std::exchange(from.record_, nullptr)) {}
    handle& operator=(handle&& from) noexcept;
    ~handle();

    bool is_open() const noexcept;
    // The descriptor's number; -1 if closed. The program may query it, and must not close it.
    int native_handle() const noexcept;
    // Ends the calls that wait, with std::errc::operation_canceled, and closes. A call of several
    // steps (`read`, `write`) that is under way ends likewise at its next step. Later calls give
    // std::errc::bad_file_descriptor. Does not block.
    void close() noexcept;
    // Ends the calls that wait at this moment, with std::errc::operation_canceled. Those calls have
    // transferred nothing. A call that was woken and finds nothing counts as one that waits. Does
    // not block.
    void cancel() noexcept;
    // Gives the descriptor up without closing it. Requires that no other strand uses the handle.
    int release() noexcept;

    // The longest time for which one wait of a call may last; the call then gives
    // std::errc::timed_out and has transferred nothing in that wait. The limit begins anew with
    // each wait, so a stream that moves is not ended. A limit that is not positive ends each wait
    // at once.
    template <class Rep, class Period>
    void timeout(const std::chrono::duration<Rep, Period>& limit) noexcept {
        set_limit(detail::limit_of(limit));
    }
    void no_timeout() noexcept { set_limit(sched::never); } // The default.

protected:
    explicit handle(sched::io_record& record) noexcept : record_(&record) {}

private:
    friend struct detail::handle_access;
    void set_limit(std::int64_t limit_ns) noexcept;

    sched::io_record* record_ = nullptr;
};

} // namespace sennit::io
