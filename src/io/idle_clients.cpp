// SPDX-License-Identifier: Apache-2.0
// The steps of sennit/io/detail/idle_clients.hpp, which has the protocol.
#include "sennit/io/detail/idle_clients.hpp"

#include "io/access.hpp"
#include "sennit/detail/core/now.hpp"
#include "sennit/detail/core/verbs.hpp"

#include <memory>
#include <mutex>
#include <utility>

namespace sennit::io::detail {

using sched::io_direction;
using sched::io_record;
using sched::io_wake;

namespace {

std::error_code error_of(io_wake why) noexcept {
    switch (why) {
    case io_wake::timed_out:
        return std::make_error_code(std::errc::timed_out);
    case io_wake::canceled:
    case io_wake::closed:
        return std::make_error_code(std::errc::operation_canceled);
    default:
        return {};
    }
}

struct end_of_use {
    void operator()(io_record* of) const noexcept { of->end_use(); }
};

sched::runtime_core& own_runtime() {
    sched::runtime_core* here = sched::current_runtime();
    return here ? *here : sched::io_runtime_outside();
}

} // namespace

idle_client::idle_client(idle_clients& server) noexcept
    : event_hook{[](event_hook& self, io_wake why) noexcept {
          auto& me = static_cast<idle_client&>(self);
          me.server_.wait_has_ended(me, why);
      }},
      deadline_ns_(sched::never), server_(server) {}

idle_clients::relay::relay(idle_clients& whose) noexcept
    : runnable([](runnable* self) noexcept { static_cast<relay&>(*self).all.run_late(); }),
      all(whose) {}

idle_clients::idle_clients(const handle& listener, std::size_t most, std::int64_t limit_ns,
                           const functions& how)
    : count_(listener, most), how_(how), limit_ns_(limit_ns), runtime_(own_runtime()),
      relay_(*this) {
    timer_.all = this;
    timer_.fire = [](sched::timer& due) noexcept { static_cast<own_timer&>(due).all->expire(); };
}

idle_clients::~idle_clients() {
    for (;;) {
        {
            std::lock_guard guard(lock_);
            if (!timer_in_use_) return;
        }
        if (sched::disarm(timer_, runtime_)) return;
        sched::yield_thread(); // The timer is about to be armed, or runs.
    }
}

idle_clients::outcome idle_clients::wait(idle_client& one, const handle& stream,
                                         std::error_code& failed) {
    io_record* const record = handle_access::record(stream);
    if (!record || !record->begin_use()) return outcome::ended;
    // The record lives until the end of the use, also after W6.
    const std::unique_ptr<io_record, end_of_use> use(record);
    const std::uint32_t seen = record->tick(io_direction::read); // W1
    // W2
    if (!record->known_drained(seen) && sys::is_ready(record->descriptor(), false))
        return record->is_open() ? outcome::readable : outcome::ended;
    if (!record->prepare_entry(io_direction::read, failed)) return outcome::failed; // W3
    const std::int64_t deadline =
        limit_ns_ == sched::never ? sched::never : sched::now_ns() + limit_ns_;
    bool must_arm = false;
    {
        std::lock_guard guard(lock_);
        if (stopped_) return outcome::ended; // W4
        if (!record->set_hook(one, seen))    // W5
            return record->is_open() ? outcome::readable : outcome::ended;
        one.deadline_ns_ = deadline;
        one.record_ = record;
        waiting_.push_back(one); // W6
        must_arm = arm_timer();
    }
    // The server lives: the caller is its strand, or that of a connection.
    if (must_arm) sched::arm(timer_, runtime_);
    return outcome::waits;
}

void idle_clients::take_turns(const handle& stream) noexcept {
    io_record* const record = handle_access::record(stream);
    if (record &&
        record->count_immediate(io_direction::read) % sched::io_record::calls_to_a_turn == 0)
        sched::yield();
}

// Requires the lock. Returns true if the caller must arm the timer once it has released the lock.
bool idle_clients::arm_timer() noexcept {
    const idle_client* first = waiting_.front();
    if (timer_in_use_ || !first || first->deadline_ns_ == sched::never) return false;
    timer_.deadline_ns = first->deadline_ns_;
    return timer_in_use_ = true;
}

void idle_clients::end(idle_client& one) noexcept {
    how_.destroy(one);
    count_.remove();
}

void idle_clients::stop() noexcept {
    base::intrusive_queue<idle_client> ended;
    {
        std::lock_guard guard(lock_);
        stopped_ = true;
        take_waiting(sched::never, ended);
    }
    while (idle_client* one = ended.pop_front()) end(*one);
}

// E1 and E2. Requires the lock. Takes the connections whose deadline is `latest` or earlier.
void idle_clients::take_waiting(std::int64_t latest,
                                base::intrusive_queue<idle_client>& into) noexcept {
    for (idle_client* one = waiting_.front(); one && one->deadline_ns_ <= latest;) {
        idle_client* const next = waiting_.after(*one);
        if (one->record_->take_hook()) { // Otherwise another thread owns it, and is about to come.
            waiting_.remove(*one);
            into.push_back(*one);
        }
        one = next;
    }
}

// E2 and E3, for the thread of an event, of `close` and of `cancel`.
void idle_clients::wait_has_ended(idle_client& one, io_wake why) noexcept {
    bool post = false;
    {
        std::lock_guard guard(lock_);
        waiting_.remove(one);
        if (sched::current_runtime() != &runtime_) {
            one.why_ = why;
            late_.push_back(one);
            post = !std::exchange(relay_posted_, true);
            if (!post) return;
        }
    }
    if (post)
        sched::schedule(relay_, runtime_);
    else
        how_.run(one, error_of(why));
}

void idle_clients::run_late() noexcept {
    base::intrusive_queue<idle_client> mine;
    {
        std::lock_guard guard(lock_);
        mine.append(late_);
        relay_posted_ = false;
    }
    const auto run = how_.run; // The server may end with its last connection.
    while (idle_client* one = mine.pop_front()) run(*one, error_of(one->why_));
}

// The timer expires.
void idle_clients::expire() noexcept {
    base::intrusive_queue<idle_client> ended;
    const auto run = how_.run; // The server may end with its last connection.
    bool must_arm = false;
    {
        const std::int64_t now = sched::now_ns();
        std::lock_guard guard(lock_);
        take_waiting(now, ended);
        timer_in_use_ = false;
        must_arm = arm_timer();
    }
    if (must_arm) sched::arm(timer_, runtime_);
    while (idle_client* one = ended.pop_front()) run(*one, error_of(io_wake::timed_out));
}

} // namespace sennit::io::detail
