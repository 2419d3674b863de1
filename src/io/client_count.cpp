// SPDX-License-Identifier: Apache-2.0
// The wait for a place is a call on the listener in the direction in which a listener has no
// events: `remove` signals it. So it ends as `accept` does.
#include "sennit/io/detail/client_count.hpp"

#include "io/access.hpp"
#include "sennit/cancelled.hpp"
#include "sennit/detail/base/check.hpp"

#include <mutex>

namespace sennit::io::detail {

client_count::client_count(const handle& listener, std::size_t most) noexcept
    : listener_(listener), most_(most) {
    SENNIT_CHECK(most > 0, "[SNT-460] a server was started with a limit of 0 connections, so that "
                           "it could serve none; set serve_options::most_clients to 1 or more");
}

void client_count::wait_for_place(std::error_code& failed) {
    if (now_.load() < most_) return;
    (void)run(listener_,
              {.direction = sched::io_direction::write,
               .what = "the end of a connection, at the limit of connections",
               .call = [](int, void* self) noexcept -> std::ptrdiff_t {
                   const auto& me = *static_cast<const client_count*>(self);
                   return me.now_.load() < me.most_ ? 0 : sched::io_would_block;
               },
               .argument = this},
              failed);
}

void client_count::add() noexcept {
    now_.fetch_add(1);
}

void client_count::remove() noexcept {
    sched::io_record* const listener = handle_access::record(listener_);
    bool was_full;
    {
        sched::wake_ups woken;
        std::lock_guard guard(lock_);
        const std::size_t before = now_.fetch_sub(1);
        was_full = before == most_;
        if (before == 1) woken.take_all(joiner_);
    }
    // A record is never freed, and a signal without a waiter does no harm.
    if (was_full && listener) listener->signal(sched::io_direction::write);
}

void client_count::join(bool cancellable) {
    for (;;) {
        lock_.lock();
        if (now_.load() == 0) return lock_.unlock();
        const auto why = sched::block(
            joiner_, lock_,
            {.cancellable = cancellable, .what = "the end of a server's connections", .on = this});
        if (why == sched::wake_reason::cancelled) throw cancelled();
    }
}

} // namespace sennit::io::detail
