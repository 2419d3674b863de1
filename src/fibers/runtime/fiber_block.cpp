// SPDX-License-Identifier: Apache-2.0
#include "sennit/detail/core/fiber_block.hpp"

#include "core/diagnostics/tracing.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/worker/worker.hpp"
#include "sennit/detail/base/check.hpp"
#include "sennit/detail/core/cancel_scope.hpp"
#include "sennit/detail/core/verbs.hpp"
#include "sennit/detail/sys/single_threaded.hpp"
#include "sys/clock.hpp"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace sennit::sched {

namespace {

// A child that is run on its joiner's stack needs as much as one on a fresh stack that has a
// quarter left. False on a side stack, wherever that lies: a coroutine could not be suspended from
// a fiber on top of it.
[[gnu::always_inline]] inline bool stack_is_roomy(const context& whose) noexcept {
    const auto* here = static_cast<const std::byte*>(__builtin_frame_address(0));
    const sys::stack& stack = whose.stack;
    return static_cast<std::size_t>(stack.high - here) <
           static_cast<std::size_t>(stack.high - stack.low) / 2;
}

} // namespace

void fiber_block::run_queued(runnable* self) noexcept {
    auto& me = static_cast<fiber_block&>(*self);
    if (me.cold_) [[unlikely]] {
        if (me.cold_->stack)
            return this_worker()->run_on(*std::exchange(me.cold_->stack, nullptr),
                                         me); // comes here again
        if (me.cold_->migration) return me.run_migratable();
    }
    me.run_here();
    me.end();
}

// May go on in another thread.
void fiber_block::run_here() noexcept {
    if (tracing::on()) [[unlikely]]
        return run_here_traced();
    begin_strand(self_);
    run_body();
    destroy_locals(self_);
    end_strand(self_);
}

void fiber_block::run_here_traced() noexcept {
    begin_strand(self_);
    tracing::emit(trace_kind::runs, &self_);
    run_body();
    destroy_locals(self_);
    end_strand(self_);
    tracing::emit(trace_kind::runs, self_.outer);
}

void fiber_block::run_body() noexcept {
    if (affinity == 0 && !cold_) [[likely]]
        type_.body(*this);
    else
        run_bound();
}

// The context is the fiber's until it ends, whatever worker it runs on: so it is bound as the fiber
// is.
[[gnu::noinline]] void fiber_block::run_bound() noexcept {
    context& here = this_worker()->self();
    const std::uint16_t outer_affinity = std::exchange(here.affinity, affinity);
    if (cold_) set_location(&here);
    type_.body(*this);
    destroy_locals(self_); // their destructors may block
    if (cold_) set_location(nullptr);
    here.affinity = outer_affinity;
}

void fiber_block::end() noexcept {
    for (;;) {
        std::uint32_t seen = state_.load_acq(); // pairs with let_go
        if (seen == running_state && base::elidable(state_).cas_acq_rel(seen, ended_state))
            return; // pairs with ended, join and let_go
        if (seen == detached_state) break;
        claimed joiner;
        {
            std::lock_guard guard(lock_);
            if (state_.load_rlx() != watched_state) continue; // the joiner gave up, under the lock
            state_.store_rlx(
                ended_state); // seen by the joiner alone, which takes the lock or is woken
            joiner = claim_first(joiners_);
        }
        if (joiner) end_wait(joiner);
        return;
    }
    if (error) fail_unheard("detached");
    type_.destroy(this);
}

void fiber_block::fail_unheard(const char* was) noexcept {
    char text[256];
    std::snprintf(text, sizeof text,
                  "[SNT-111] an exception left fiber '%s' (%llu), which was %s, so nothing can "
                  "rethrow it; catch it in "
                  "the fiber, or "
                  "join the fiber",
                  name(), static_cast<unsigned long long>(id()), was);
    base::fail(text, __FILE__, __LINE__);
}

void fiber_block::look_at_properties(void (*look)(const fiber_properties&, void*) noexcept,
                                     void* argument) noexcept {
    const auto here = pin_during_change();
    if (const fiber_properties* own = properties())
        runtime_->injector().look([&] { look(*own, argument); });
}

// Where there is an order, each fiber has a priority that can be changed.
void fiber_block::have_properties() noexcept {
    if (properties()) return;
    try {
        set_properties(std::make_shared<fiber_properties>());
    } catch (const std::bad_alloc&) {
        // It goes without, and counts as of priority 0.
    }
}

void fiber_block::launch(start how) noexcept {
    if (runtime_->injector().ordered()) [[unlikely]]
        have_properties();
    worker* me = this_worker();
    born_ns_ = me ? me->cached_now_ns() : sys::coarse_now_ns();
    if (!me || &me->runtime() != runtime_)
        runtime_->post(*this);
    else if (how == start::enqueue || (affinity != 0 && affinity != me->affinity()) ||
             !me->run_instead(*this))
        me->post_spawned(*this);
}

// Out of the way of run_if_newest.
[[gnu::noinline, gnu::cold]] bool fiber_block::put_back() noexcept {
    this_worker()->post_spawned(*this);
    return false;
}

// Whether it is the newest here and has not begun, and nothing else is due; it is out of the queue
// then, and ours.
[[gnu::always_inline]] inline bool fiber_block::take_if_newest(worker* me) noexcept {
    return me && &me->runtime() == runtime_ && affinity == 0 &&
           !me->global_poll_due_beside_children() && me->queue().pop_newest_if(*this);
}

// Of one that was taken so. False: it is put back.
[[gnu::always_inline]] inline bool fiber_block::run_for_joiner(worker& me,
                                                               bool needs_more) noexcept {
    if (needs_more || !stack_is_roomy(me.self())) [[unlikely]]
        return put_back();
    me.counted.inline_runs.add();
    run_here();
    state_.store_rlx(ended_state); // not shared: nobody else has seen it run
    return true;
}

// One that is movable may be anywhere, and is changed there: nothing of it may be looked at but
// that it is.
[[gnu::noinline]] bool fiber_block::run_if_newest_with_cold_state() noexcept {
    worker* me = this_worker();
    return !cold_->migration && take_if_newest(me) && run_for_joiner(*me, cold_->stack != nullptr);
}

// Runs it on the caller's stack if that may be.
[[gnu::always_inline]] inline bool fiber_block::run_if_newest() noexcept {
    if (cold_) [[unlikely]]
        return run_if_newest_with_cold_state();
    worker* me = this_worker();
    return take_if_newest(me) && run_for_joiner(*me, false);
}

void fiber_block::join() noexcept {
    if (ended() || run_if_newest()) return;
    (void)wait_for_end({.cancellable = false, .what = "fiber::join"}, true);
}

wake_reason fiber_block::join(const wait_options& options) noexcept {
    if (ended()) return wake_reason::source;
    const bool patient =
        options.deadline_ns == never && !(options.cancellable && in_cancel_scope());
    if (patient && run_if_newest()) return wake_reason::source;
    return wait_for_end(options, patient);
}

[[gnu::noinline]] wake_reason fiber_block::wait_for_end(const wait_options& options,
                                                        bool patient) noexcept {
    wait_point point(patient);
    wait_entry entry(point);
    lock_.lock();
    std::uint32_t seen = running_state;
    // Orders nothing: if it succeeds, the lock carries all.
    if (!base::elidable(state_).cas_rlx(seen, watched_state)) {
        lock_.unlock();
        (void)state_.load_acq(); // pairs with end: it has ended
        return wake_reason::source;
    }
    enqueue(joiners_, entry);
    wait_options told = options;
    told.on = this;
    told.holder = &fiber_block::holder;
    const wake_reason why = wait_unlocking(point, lock_, told);
    if (patient) return why;      // woken after the lock was free
    std::lock_guard guard(lock_); // who claimed us before we slept may be inside still, and the
                                  // caller frees the block
    if (ended()) return wake_reason::source;
    dequeue(joiners_, entry);
    state_.store_rlx(running_state); // orders nothing: end looks at the list under the lock
    return why;
}

void fiber_block::let_go() noexcept {
    std::uint32_t seen = running_state;
    if (base::elidable(state_).cas_acq_rel(seen, detached_state)) return; // pairs with end
    SENNIT_CHECK(seen == ended_state, "[SNT-112] a fiber was detached while another fiber or "
                                      "thread waits in its join; let one owner either join or "
                                      "detach it");
    if (error) fail_unheard("detached");
    type_.destroy(this);
}

const void* fiber_block::holder(const void* on) noexcept {
    return &static_cast<const fiber_block*>(on)->self_; // an activity's address is its identity
}

std::uint64_t fiber_block::id() noexcept {
    return number_of(self_);
}

fiber_cold_state& fiber_block::cold_state() {
    if (!cold_) cold_ = ::new (take_memory(sizeof(fiber_cold_state))) fiber_cold_state;
    return *cold_;
}

void fiber_block::drop_cold_state() noexcept {
    if (cold_->stack) runtime_->contexts().give(*cold_->stack); // never launched
    if (cold_->migration) drop_migration();
    if (cold_->properties) cold_->properties->given_.set.store(false);
    std::destroy_at(cold_);
    give_memory(cold_, sizeof(fiber_cold_state));
}

void fiber_block::set_name(std::string_view name) {
    auto& to = cold_state().name;
    std::size_t length = std::min(name.size(), to.size() - 1);
    while (length > 0 && length < name.size() && (name[length] & 0xC0) == 0x80)
        --length; // UTF-8: not within a character
    std::copy_n(name.data(), length, to.data());
    to[length] = '\0';
}

void fiber_block::set_properties(std::shared_ptr<fiber_properties> properties) {
    fiber_cold_state& more = cold_state();
    // An order finds an item by its properties: those of two would change for one behind the
    // other's back.
    if (properties->given_.set.exchange(true))
        throw std::invalid_argument(
            "sennit: [SNT-107] fiber_attributes::properties belong to another fiber; give each "
            "fiber an object of its own");
    more.properties = std::move(properties);
}

void fiber_block::need_stack(std::size_t size) {
    if (size > runtime_->stack_size()) cold_state().stack = &runtime_->contexts().take(size);
}

// Where the order would hold it. Nobody asks where there is none.
void fiber_block::set_location(context* location) noexcept {
    if (runtime_->injector().ordered())
        runtime_->injector().look([&] { cold_->location = location; });
}

// The fiber may begin or end meanwhile. What the order holds of it can only be this block or the
// context that it runs on, which is said, and taken back before that context is somebody else's,
// under the order's lock: so it is asked there.
void fiber_block::change_properties(void (*change)(void*), void* argument) {
    const auto here = pin_during_change();
    const auto queued = [this]() -> runnable& {
        context* location = cold_ ? cold_->location : nullptr;
        return location ? static_cast<runnable&>(*location) : *this;
    };
    runtime_->injector().change(queued, [&] { change(argument); });
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
