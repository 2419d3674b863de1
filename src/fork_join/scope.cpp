// SPDX-License-Identifier: Apache-2.0
#include "sennit/scope.hpp"

#include "../core/switch/context.hpp"
#include "sennit/detail/base/check.hpp"

#include <mutex>

namespace sennit {

namespace {
// A context's fork stack holds at least 512 slots (32 KiB). A scope may take a part of the first
// half of them; further children go to the queue.
constexpr std::uint32_t max_children_in_slots = 64;

sched::runtime_core& runtime_for_children() {
    sched::runtime_core* here = sched::current_runtime();
    return here ? *here : default_runtime().core();
}
} // namespace

scope::scope()
    : home_(sched::current_context()), maker_(sched::current_identity()),
      expected_(sched::free_slot()), uncaught_at_start_(std::uncaught_exceptions()) {}

scope::~scope() noexcept(false) {
    join_children();
    if (error_ && std::uncaught_exceptions() == uncaught_at_start_)
        std::rethrow_exception(std::move(error_));
}

void scope::join() {
    join_children();
    if (stopped()) { // reset, so that the scope can be used again
        stopped_.store(0);
        stop_source_.reset();
    }
    if (std::exception_ptr error = std::exchange(error_, nullptr))
        std::rethrow_exception(std::move(error));
}

// Returns a slot only in the context and strand that created the scope, and not after a move to
// another runtime. The end of the fork stack must be where this scope left it, because the child's
// slot must be joined before earlier forks.
sched::fork_slot* scope::slot_for_child() noexcept {
    if (!home_ || home_ != sched::current_context() || maker_ != sched::current_identity() ||
        slots_ >= max_children_in_slots)
        return nullptr;
    sched::fork_slot* slot = sched::free_slot();
    if (!slot || slot != expected_) return nullptr;
    return static_cast<const sched::context*>(home_)->has_room_for_scopes(slot) ? slot : nullptr;
}

bool scope::run_stolen(sched::fork_slot* slot) noexcept {
    auto* header = &slot->as<slot_header>();
    header->owner->run_or_drop(header);
    return false; // errors are recorded in the scope
}

void scope::run_or_drop(slot_header* header) noexcept {
    guarded([&] { header->act(header, stopped() ? action::drop : action::run); });
}

void scope::add(queued& child) noexcept {
    queued_.fetch_add(1);
    sched::spawn(child, runtime_for_children());
}

void scope::child_ended() noexcept {
    if (queued_.fetch_sub(1) == 1) all_ended_.finish(); // the scope may be gone after this
}

void scope::record(std::exception_ptr error) noexcept {
    {
        std::lock_guard guard(lock_);
        if (!error_) error_ = std::move(error);
    }
    request_stop();
}

void scope::request_stop() noexcept {
    std::stop_source source{std::nostopstate};
    {
        std::lock_guard guard(lock_);
        stopped_.store(1);
        if (stop_source_) source = *stop_source_;
    }
    source.request_stop(); // runs callbacks, so outside the lock
}

std::stop_token scope::get_stop_token() {
    std::unique_lock guard(lock_);
    if (!stop_source_) {
        guard.unlock();
        auto fresh = std::make_unique<std::stop_source>(); // may allocate, so outside the lock
        guard.lock();
        if (!stop_source_) stop_source_ = std::move(fresh);
    }
    std::stop_source source = *stop_source_;
    guard.unlock();
    // A task that requested the stop may not have seen the source. request_stop runs callbacks, so
    // it is called outside the lock.
    if (stopped()) source.request_stop();
    return source.get_token();
}

void scope::join_children() noexcept {
    if (slots_ > 0) {
        SENNIT_CHECK(sched::free_slot() == expected_,
                     "[SNT-114] a scope was joined while forks made after its own are unjoined; "
                     "join in the reverse order, as nested blocks do");
        while (slots_ > 0) {
            --slots_;
            sched::fork_slot* slot = --expected_;
            if (sched::pop_fork(slot)) run_or_drop(&slot->as<slot_header>());
        }
    }
    if (queued_.fetch_sub(1) != 1) all_ended_.wait("scope");
    std::construct_at(&all_ended_);
    queued_.store(1);
}

} // namespace sennit
