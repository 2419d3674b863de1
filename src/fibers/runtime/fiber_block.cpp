// SPDX-License-Identifier: Apache-2.0
#include "sennit/detail/core/fiber_block.hpp"

#include "core/diagnostics/tracing.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/worker/worker.hpp"
#include "sennit/detail/base/check.hpp"
#include "sennit/detail/core/cancel_scope.hpp"
#include "sennit/detail/core/task_strand.hpp"
#include "sennit/detail/core/verbs.hpp"
#include "sennit/detail/sys/single_threaded.hpp"
#include "sys/bounded_text.hpp"
#include "sys/clock.hpp"

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace sennit::sched {

namespace {

// A child that runs on its joiner's stack needs as much room as a child on a fresh stack of which a
// quarter is left. The function returns false on a coroutine stack, wherever that lies: a coroutine
// could not be suspended from a fiber on top of it.
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
        // run_on calls run_queued again, on that stack.
        if (me.cold_->stack)
            return this_worker()->run_on(*std::exchange(me.cold_->stack, nullptr), me);
        if (me.cold_->migration) return me.run_migratable();
    }
    me.run_here();
    me.end();
}

// May return in another thread than it was called in.
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

// The context belongs to the fiber until the fiber ends, on every worker that it runs on. It
// therefore gets the fiber's affinity.
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
        // Pairs with ended, join and let_go.
        if (seen == running_state && base::elidable(state_).cas_acq_rel(seen, ended_state)) return;
        if (seen == detached_state) break;
        claimed joiner;
        {
            std::lock_guard guard(lock_);
            if (state_.load_rlx() != watched_state) continue; // the joiner gave up, under the lock
            // Orders nothing: only the joiner sees it, which takes the lock or is woken.
            state_.store_rlx(ended_state);
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
    sys::bounded_text(text, sizeof text)
        << "[SNT-111] an exception left fiber '" << name() << "' (" << id() << "), which was "
        << was << ", so nothing can rethrow it; catch it in the fiber, or join the fiber";
    base::fail(text, __FILE__, __LINE__);
}

void fiber_block::look_at_properties(void (*look)(const fiber_properties&, void*) noexcept,
                                     void* argument) noexcept {
    const auto here = pin_during_change();
    if (const fiber_properties* own = properties())
        runtime_->injector().look([&] { look(*own, argument); });
}

// Gives each fiber of a runtime with a scheduling order a priority that can be changed.
void fiber_block::have_properties() noexcept {
    if (properties()) return;
    try {
        set_properties(std::make_shared<fiber_properties>());
    } catch (const std::bad_alloc&) {
        // Without memory the fiber has no properties, and counts as of priority 0.
    }
}

void fiber_block::launch(start how) noexcept {
    if (runtime_->injector().ordered()) [[unlikely]]
        have_properties();
    worker* me = this_worker();
    born_ns_ = me ? me->cached_now_ns() : sys::coarse_now_ns();
    if (!me || &me->runtime() != runtime_) return runtime_->post(*this);
    if (how == start::in_order) {
        order = me->queue().present(); // Tasks that are spawned later may begin before it.
        return me->post_woken(*this);
    }
    if (how == start::enqueue || (affinity != 0 && affinity != me->affinity()) ||
        !me->run_instead(*this))
        me->post_spawned(*this);
}

// A separate function, to keep run_if_newest short.
[[gnu::noinline, gnu::cold]] bool fiber_block::put_back() noexcept {
    this_worker()->post_spawned(*this);
    return false;
}

// Returns true if the fiber is the newest task of this worker, has not begun, and no other task is
// due. The fiber is then out of the queue and belongs to the caller.
[[gnu::always_inline]] inline bool fiber_block::take_if_newest(worker* me) noexcept {
    return me && &me->runtime() == runtime_ && affinity == 0 &&
           !me->global_poll_due_beside_children() && me->queue().pop_newest_if(*this);
}

// Runs a fiber that take_if_newest has taken. Returns false, and puts the fiber back, if it needs
// more stack than the caller has.
[[gnu::always_inline]] inline bool fiber_block::run_for_joiner(worker& me,
                                                               bool needs_more) noexcept {
    if (needs_more || !stack_is_roomy(me.self())) [[unlikely]]
        return put_back();
    me.counted.inline_runs.add();
    run_here();
    state_.store_rlx(ended_state); // not shared: no other task has seen it run
    return true;
}

// A migratable fiber may be in any runtime and is changed there. The function must read nothing of
// it except that it is migratable.
[[gnu::noinline]] bool fiber_block::run_if_newest_with_cold_state() noexcept {
    worker* me = this_worker();
    return !cold_->migration && take_if_newest(me) && run_for_joiner(*me, cold_->stack != nullptr);
}

// Runs the fiber on the caller's stack, if that is possible.
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

// Returns true if the fiber has ended. Otherwise the lock is held, and the end of the fiber will
// look for a joiner.
inline bool fiber_block::ended_or_lock() noexcept {
    lock_.lock();
    std::uint32_t seen = running_state;
    // Orders nothing: if it succeeds, the lock orders everything.
    if (base::elidable(state_).cas_rlx(seen, watched_state)) return false;
    lock_.unlock();
    (void)state_.load_acq(); // pairs with end: the fiber has ended
    return true;
}

[[gnu::noinline]] wake_reason fiber_block::wait_for_end(const wait_options& options,
                                                        bool patient) noexcept {
    wait_point point(patient);
    wait_entry entry(point);
    if (ended_or_lock()) return wake_reason::source;
    enqueue(joiners_, entry);
    wait_options told = options;
    told.on = this;
    told.holder = &fiber_block::holder;
    const wake_reason why = wait_unlocking(point, lock_, told);
    if (patient) return why; // woken after the lock was free
    // The fiber that claimed the joiner before it slept may still hold the lock, and the caller
    // frees the block.
    std::lock_guard guard(lock_);
    if (ended()) return wake_reason::source;
    dequeue(joiners_, entry);
    state_.store_rlx(running_state); // orders nothing: end looks at the list under the lock
    return why;
}

bool fiber_block::awaited_end::ready_or_lock() noexcept {
    return self->ended() || self->ended_or_lock();
}
std::coroutine_handle<> fiber_block::awaited_end::suspend(std::coroutine_handle<> at,
                                                          std::int64_t deadline_ns) {
    return task_wait::block(at, self->joiners_, self->lock_,
                            {.deadline_ns = deadline_ns,
                             .cancellable = false,
                             .what = "fiber::join",
                             .on = self,
                             .holder = &fiber_block::holder});
}
// As in wait_for_end. Without a deadline the fiber wakes the task after it has released the lock.
bool fiber_block::awaited_end::end_suspension() noexcept {
    if (task_wait::unblock(self->joiners_, self->lock_) == wake_reason::source) return true;
    std::lock_guard guard(self->lock_);
    if (self->ended()) return true;
    self->state_.store_rlx(running_state); // orders nothing: end looks at the list under the lock
    return false;
}

void fiber_block::let_go() noexcept {
    std::uint32_t seen = running_state;
    // Pairs with end.
    if (base::elidable(state_).cas_acq_rel(seen, detached_state)) return;
    SENNIT_CHECK(seen == ended_state,
                 "[SNT-112] a fiber was detached while another fiber or thread waits in its join; "
                 "let one owner either join or detach it");
    if (error) fail_unheard("detached");
    type_.destroy(this);
}

const void* fiber_block::holder(const void* on) noexcept {
    // The address of a strand is its identity.
    return &static_cast<const fiber_block*>(on)->self_;
}

std::uint64_t fiber_block::id() noexcept {
    return number_of(self_);
}

fiber_cold_state& fiber_block::cold_state() {
    if (!cold_) cold_ = ::new (take_memory(sizeof(fiber_cold_state))) fiber_cold_state;
    return *cold_;
}

void fiber_block::drop_cold_state() noexcept {
    if (cold_->stack) runtime_->contexts().give(*cold_->stack); // the fiber was never launched
    if (cold_->migration) drop_migration();
    if (cold_->properties) cold_->properties->given_.set.store(false);
    std::destroy_at(cold_);
    give_memory(cold_, sizeof(fiber_cold_state));
}

void fiber_block::set_name(std::string_view name) {
    set_report_name(cold_state().name, name);
}

void fiber_block::set_properties(std::shared_ptr<fiber_properties> properties) {
    fiber_cold_state& more = cold_state();
    // An order finds an item by its properties. If two fibers shared an object, a change for one of
    // them would misplace the other.
    if (properties->given_.set.exchange(true))
        throw std::invalid_argument("sennit: [SNT-107] fiber_attributes::properties belong to "
                                    "another fiber; give each fiber an object of its own");
    more.properties = std::move(properties);
}

void fiber_block::need_stack(std::size_t size) {
    if (size > runtime_->stack_size()) cold_state().stack = &runtime_->contexts().take(size);
}

// Records where the order holds the fiber. No code asks in a runtime without an order.
void fiber_block::set_location(context* location) noexcept {
    if (runtime_->injector().ordered())
        runtime_->injector().look([&] { cold_->location = location; });
}

// The fiber may begin or end meanwhile. The order can hold only this block, or the context on which
// the fiber runs. `location` names that context. It is set, and cleared before the context belongs
// to another fiber, under the order's lock. The function therefore reads `location` under that
// lock.
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
    std::stop_source fresh; // may allocate, so outside the lock
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
    return source.request_stop(); // runs callbacks, so outside the lock
}

} // namespace sennit::sched
