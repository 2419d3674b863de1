// SPDX-License-Identifier: Apache-2.0
#include "sennit/channel.hpp"

#include "../core/wait/wait_here.hpp"
#include "sennit/detail/base/return_thunk.hpp"
#include "sennit/detail/core/strand.hpp"

namespace sennit::detail {

// Inline: that saves one call before the stack switch.
[[gnu::always_inline]] inline sched::wake_reason channel_core::wait_in(sched::wait_list& list,
                                                                       void* mine, const char* what,
                                                                       std::int64_t deadline_ns) {
    return sched::block_here(list, lock_, {.deadline_ns = deadline_ns, .what = what, .on = this},
                             mine);
}

SENNIT_RETURN_VIA_THUNK channel_status channel_core::wait_to_push(void* value,
                                                                  std::int64_t deadline_ns) {
    if (closed_) {
        lock_.unlock();
        return channel_status::closed;
    }
    send_request mine{value};
    switch (wait_in(senders_, &mine, "channel::push", deadline_ns)) {
    case sched::wake_reason::cancelled:
        throw cancelled();
    case sched::wake_reason::timed_out:
        return channel_status::timeout;
    default:
        return mine.closed ? channel_status::closed : channel_status::success;
    }
}

SENNIT_RETURN_VIA_THUNK channel_status channel_core::wait_to_pop(void* to,
                                                                 std::int64_t deadline_ns) {
    receive_request mine{to};
    if (!closed_) {
        switch (wait_in(receivers_, &mine, "channel::pop", deadline_ns)) {
        case sched::wake_reason::cancelled:
            throw cancelled();
        case sched::wake_reason::timed_out:
            return channel_status::timeout;
        default:
            if (mine.given) return channel_status::success;
        }
    } else {
        lock_.unlock();
    }
    throw_error();
    return channel_status::closed;
}

std::coroutine_handle<> channel_core::suspend_to_push(std::coroutine_handle<> at,
                                                      send_request& mine,
                                                      std::int64_t deadline_ns) {
    return sched::task_wait::block(
        at, senders_, lock_, {.deadline_ns = deadline_ns, .what = "channel::push", .on = this},
        &mine);
}

std::coroutine_handle<> channel_core::suspend_to_pop(std::coroutine_handle<> at,
                                                     receive_request& mine,
                                                     std::int64_t deadline_ns) {
    return sched::task_wait::block(at, receivers_, lock_,
                                   {.deadline_ns = deadline_ns, .what = "channel::pop", .on = this},
                                   &mine);
}

channel_status channel_core::end_push(const send_request& mine) {
    switch (sched::task_wait::unblock(senders_, lock_)) {
    case sched::wake_reason::cancelled:
        throw cancelled();
    case sched::wake_reason::timed_out:
        return channel_status::timeout;
    default:
        return mine.closed ? channel_status::closed : channel_status::success;
    }
}

channel_status channel_core::end_pop(const receive_request& mine) {
    switch (sched::task_wait::unblock(receivers_, lock_)) {
    case sched::wake_reason::cancelled:
        throw cancelled();
    case sched::wake_reason::timed_out:
        return channel_status::timeout;
    default:
        if (mine.given) return channel_status::success;
        throw_error();
        return channel_status::closed;
    }
}

} // namespace sennit::detail
