// SPDX-License-Identifier: Apache-2.0
#include "sennit/channel.hpp"

#include "sennit/base/jump_return.hpp"

namespace sennit::detail {

SENNIT_RETURNS_BY_JUMP channel_status channel_core::wait_to_push(void* value, std::int64_t deadline_ns) {
    if (closed_) {
        lock_.unlock();
        return channel_status::closed;
    }
    sending mine{value};
    switch (sched::block(senders_, lock_, {.deadline_ns = deadline_ns, .what = "channel::push", .on = this}, &mine)) {
    case sched::wake_reason::cancelled:
        throw cancelled();
    case sched::wake_reason::timed_out:
        return channel_status::timeout;
    default:
        return mine.closed ? channel_status::closed : channel_status::success;
    }
}

SENNIT_RETURNS_BY_JUMP channel_status channel_core::wait_to_pop(void* to, std::int64_t deadline_ns) {
    receiving mine{to};
    if (!closed_) {
        switch (
            sched::block(receivers_, lock_, {.deadline_ns = deadline_ns, .what = "channel::pop", .on = this}, &mine)) {
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

} // namespace sennit::detail
