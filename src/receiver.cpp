// SPDX-License-Identifier: Apache-2.0
#include "sennit/receiver.hpp"

#include "sched/mailbox.hpp"
#include "sched/mailbox_table.hpp"

#include <algorithm>
#include <mutex>

namespace sennit {

namespace detail {

void arrivals::one_more(std::exception_ptr error) noexcept {
    std::lock_guard guard(lock_);
    if (error && !error_) error_ = std::move(error);
    ++count_;
    come_.notify_all();
}

std::size_t arrivals::take(std::size_t most, std::int64_t deadline_ns) {
    if (most == 0) return 0;
    const std::chrono::steady_clock::time_point until{std::chrono::nanoseconds(deadline_ns)};
    std::unique_lock guard(lock_);
    const auto some = [&] { return count_ != 0; };
    if (deadline_ns == sched::never)
        come_.wait(guard, some);
    else if (deadline_ns != 0)
        (void)come_.wait_until(guard, until, some);
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    const std::size_t taken = std::min(most, count_);
    count_ -= taken;
    return taken;
}

std::size_t arrivals::count() const {
    std::lock_guard guard(lock_);
    return count_;
}

void arrivals::reset() {
    std::lock_guard guard(lock_);
    count_ = 0;
    error_ = nullptr;
}

receiving::receiving(arrivals& given) : counted(given) {
    add_handler(&receiving::make);
    count_in(given);
}

void receiving::make(const change& m) {
    do_not_count();
    m.what(*this);
}

} // namespace detail

receiver::receiver() : actor_(group_.spawn<detail::receiving>(counted_)) {}
receiver::receiver(runtime& where) : group_(where), actor_(group_.spawn<detail::receiving>(counted_)) {}
receiver::~receiver() = default; // the group waits for its actor

// By the actor, in its turn; right here, if this is its turn.
void receiver::change(std::function<void(detail::receiving&)> what) {
    if (sched::current_receiver() == actor_.address()) {
        sched::mailbox* mine = sched::mailbox_table::find(actor_.address().slot);
        return what(static_cast<detail::receiving&>(*static_cast<actor_base*>(mine->object)));
    }
    std::exception_ptr error;
    actor_
        .ask(detail::receiving::change{[&](detail::receiving& me) {
            try {
                what(me);
            } catch (...) {
                error = std::current_exception();
            }
        }})
        .get();
    if (error) std::rethrow_exception(std::move(error));
}

bool receiver::remove_handler(handler_id which) {
    bool removed = false;
    change([&](detail::receiving& me) { removed = me.remove_registered(which); });
    return removed;
}

bool receiver::has_handler(handler_id which) {
    bool found = false;
    change([&](detail::receiving& me) { found = me.is_registered(which); });
    return found;
}

void receiver::set_default_handler(std::function<void(const dead_letter&)> what) {
    change([&](detail::receiving& me) { me.replace_default(std::move(what)); });
}

} // namespace sennit
