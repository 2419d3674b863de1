// SPDX-License-Identifier: Apache-2.0
#include "sennit/receiver.hpp"

#include "runtime/mailbox.hpp"
#include "runtime/mailbox_table.hpp"
#include "sennit/detail/core/one_shot.hpp"

#include <algorithm>
#include <mutex>

namespace sennit {

namespace detail {

void arrival_counter::count_one(std::exception_ptr error) noexcept {
    std::lock_guard guard(lock_);
    if (error && !error_) error_ = std::move(error);
    ++count_;
    come_.notify_all();
}

std::size_t arrival_counter::take(std::size_t most, std::int64_t deadline_ns) {
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

std::size_t arrival_counter::count() const {
    std::lock_guard guard(lock_);
    return count_;
}

void arrival_counter::reset() {
    std::lock_guard guard(lock_);
    count_ = 0;
    error_ = nullptr;
}

namespace {

// A change of the handlers that the receiver runs as a message; the caller waits for it.
struct change_message : sched::message_node {
    change_message(void (*change)(void*, receiver_actor&), void* argument) noexcept
        : message_node(&change_message::go), how(change), what(argument) {}
    static void go(sched::message_node& self, void* object) noexcept {
        auto& one = static_cast<change_message&>(self);
        if ((one.there = object != nullptr)) {
            try {
                one.how(one.what, static_cast<receiver_actor&>(*static_cast<actor_base*>(object)));
            } catch (...) {
                one.error = std::current_exception();
            }
        }
        one.done.finish();
    }
    void (*how)(void*, receiver_actor&);
    void* what;
    bool there = false;
    std::exception_ptr error;
    sched::one_shot done;
};

} // namespace

} // namespace detail

receiver::receiver() : actor_(group_.spawn<detail::receiver_actor>(counted_)) {}
receiver::receiver(runtime& where)
    : group_(where), actor_(group_.spawn<detail::receiver_actor>(counted_)) {}
receiver::~receiver() = default; // the group's destructor waits for the actor

bool receiver::change_by(void (*how)(void*, detail::receiver_actor&), void* what) {
    if (sched::current_receiver() == actor_.address()) {
        sched::mailbox* mine = sched::mailbox_table::find(actor_.address().slot);
        how(what, static_cast<detail::receiver_actor&>(*static_cast<actor_base*>(mine->object)));
        return true;
    }
    detail::change_message one(how, what);
    (void)sched::deliver_uncounted(actor_.address(), one);
    one.done.wait("receiver");
    if (one.error) std::rethrow_exception(std::move(one.error));
    return one.there;
}

bool receiver::remove_handler(handler_id which) {
    struct {
        handler_id which;
        bool removed = false;
    } wanted{which};
    (void)change_by(
        [](void* what, detail::receiver_actor& me) {
            auto& one = *static_cast<decltype(wanted)*>(what);
            one.removed = me.remove_registered(one.which);
        },
        &wanted);
    return wanted.removed;
}

bool receiver::has_handler(handler_id which) {
    bool found = false;
    change([&](detail::receiver_actor& me) { found = me.is_registered(which); });
    return found;
}

void receiver::set_default_handler(std::function<void(const dead_letter&)> what) {
    change([&](detail::receiver_actor& me) { me.replace_default(std::move(what)); });
}

} // namespace sennit
