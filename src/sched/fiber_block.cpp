// SPDX-License-Identifier: Apache-2.0
#include "sennit/sched/fiber_block.hpp"

#include "sched/runtime_core.hpp"
#include "sched/worker.hpp"
#include "sennit/base/check.hpp"
#include "sennit/sched/cancel_scope.hpp"
#include "sennit/sched/verbs.hpp"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <utility>

namespace sennit::sched {

namespace {

// A child that is run on its joiner's stack needs as much as one on a fresh stack that has a quarter left.
bool stack_is_roomy() noexcept {
    const auto* here = static_cast<const std::byte*>(__builtin_frame_address(0));
    const sys::stack& stack = this_worker()->self().stack;
    return here - stack.low > (stack.high - stack.low) / 2;
}

} // namespace

void fiber_block::run_queued(runnable* self) noexcept {
    auto& me = static_cast<fiber_block&>(*self);
    me.run_here();
    me.end();
}

// May go on in another thread.
void fiber_block::run_here() noexcept {
    activity* outer = exchange_activity(&self_);
    body_(*this);
    destroy_locals(self_);
    exchange_activity(outer);
}

void fiber_block::end() noexcept {
    for (;;) {
        std::uint32_t seen = state_.load_acq();                                     // pairs with let_go
        if (seen == running_state && state_.cas_acq_rel(seen, ended_state)) return; // pairs with ended, join and let_go
        if (seen == detached_state) break;
        claimed joiner;
        {
            std::lock_guard guard(lock_);
            if (state_.load_rlx() != watched_state) continue; // the joiner gave up, under the lock
            state_.store_rlx(ended_state); // seen by the joiner alone, which takes the lock or is woken
            joiner = claim_first(joiners_);
        }
        if (joiner) end_wait(joiner);
        return;
    }
    if (error) fail_detached();
    destroy_(this);
}

void fiber_block::fail_detached() noexcept {
    char text[96];
    std::snprintf(text, sizeof text, "an exception left the detached fiber '%s' (%llu)", name(),
                  static_cast<unsigned long long>(id()));
    base::fail(text, __FILE__, __LINE__);
}

void fiber_block::launch(start how) noexcept {
    worker* me = this_worker();
    if (!me || &me->runtime() != &runtime_)
        runtime_.post(*this);
    else if (how == start::enqueue || !me->run_instead(*this))
        me->post_spawned(*this);
}

bool fiber_block::run_if_newest() noexcept {
    worker* me = this_worker();
    if (!me || &me->runtime() != &runtime_ || !me->queue().pop_newest_if(*this)) return false;
    if (!stack_is_roomy()) {
        me->post_spawned(*this);
        return false;
    }
    run_here();
    return true;
}

wake_reason fiber_block::join(const wait_options& options) noexcept {
    if (ended()) return wake_reason::source;
    const bool patient = options.deadline_ns == never && !(options.cancellable && in_cancel_scope());
    if (patient && run_if_newest()) {
        state_.store_rlx(ended_state); // not shared: nobody else has seen it run
        return wake_reason::source;
    }
    wait_point point(patient);
    wait_entry entry(point);
    lock_.lock();
    std::uint32_t seen = running_state;
    if (!state_.cas_acq_rel(seen, watched_state)) { // pairs with end, if it fails; else the lock carries all
        lock_.unlock();
        return wake_reason::source;
    }
    enqueue(joiners_, entry);
    const wake_reason why = wait_unlocking(point, lock_, options);
    if (patient) return why;      // woken after the lock was free
    std::lock_guard guard(lock_); // who claimed us before we slept may be inside still, and the caller frees the block
    if (ended()) return wake_reason::source;
    dequeue(joiners_, entry);
    state_.store_rlx(running_state); // orders nothing: end looks at the list under the lock
    return why;
}

void fiber_block::let_go() noexcept {
    std::uint32_t seen = running_state;
    if (state_.cas_acq_rel(seen, detached_state)) return; // pairs with end
    SENNIT_CHECK(seen == ended_state, "a fiber is detached while somebody joins it");
    if (error) fail_detached();
    destroy_(this);
}

std::uint64_t fiber_block::id() noexcept {
    std::lock_guard guard(lock_);
    if (self_.id == 0) self_.id = fresh_id();
    return self_.id;
}

fiber_block* fiber_block::current() noexcept {
    activity* me = current_activity();
    return me ? static_cast<fiber_block*>(me->fiber) : nullptr;
}

void fiber_block::set_name(std::string_view name) noexcept {
    const std::size_t length = std::min(name.size(), name_.size() - 1);
    std::copy_n(name.data(), length, name_.data());
    name_[length] = '\0';
}

std::stop_source& fiber_block::stop_source() {
    {
        std::lock_guard guard(lock_);
        if (stop_.stop_possible()) return stop_;
    }
    std::stop_source fresh; // may allocate: outside the lock
    std::lock_guard guard(lock_);
    if (!stop_.stop_possible()) {
        if (stop_wanted_) fresh.request_stop(); // it has no callbacks yet
        stop_ = std::move(fresh);
    }
    return stop_;
}

bool fiber_block::request_stop() noexcept {
    std::stop_source source{std::nostopstate};
    {
        std::lock_guard guard(lock_);
        if (!stop_.stop_possible()) return !std::exchange(stop_wanted_, true);
        source = stop_;
    }
    return source.request_stop(); // runs callbacks: outside the lock
}

} // namespace sennit::sched
