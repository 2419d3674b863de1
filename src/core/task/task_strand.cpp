// SPDX-License-Identifier: Apache-2.0
// The loop that resumes tasks, and the waits of tasks. sennit/detail/core/task_strand.hpp has the
// protocol.
#include "sennit/detail/core/task_strand.hpp"

#include "core/diagnostics/task_table.hpp"
#include "core/diagnostics/tracing.hpp"
#include "core/diagnostics/wait_details.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/task/activation.hpp"
#include "core/wait/limited_wait.hpp"
#include "core/worker/worker.hpp"
#include "sennit/detail/base/check.hpp"
#include "sennit/detail/core/here.hpp"
#include "sennit/detail/core/task_transfer.hpp"
#include "sennit/detail/core/verbs.hpp"
#include "sys/mutant.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace sennit::sched {

namespace {

// The activation on the calling context; null: no task runs there.
[[gnu::always_inline]] inline task_run* current_run() noexcept {
    auto* host = static_cast<context*>(sys::tls_context());
    return host ? host->running_task : nullptr;
}

[[gnu::always_inline]] inline task_run& checked_run() noexcept {
    task_run* run = current_run();
    SENNIT_CHECK(run,
                 "[SNT-240] a task was resumed by code that is not Sennit; await only Sennit's "
                 "objects, and hand other events over by a promise or a channel");
    return *run;
}

[[gnu::always_inline]] inline task_strand& running_strand() noexcept {
    return *checked_run().strand;
}

} // namespace

std::coroutine_handle<> transfer_by_loop(std::coroutine_handle<> next) noexcept {
    task_run* run = current_run();
    run->next = next;
    // May be that of another stack.
    sys::tls().task_base = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(run));
    return std::noop_coroutine();
}

task_strand::task_strand(runtime_core& where, void (*at_end)(void* frame),
                         const void* made_at) noexcept
    : resumable(&task_strand::run_ready, where), plain_frame{at_end}, origin_(made_at) {
    own_.outer = nullptr;
    saved_strand = &own_;
    point_.parked = this;
}

void task_strand::set_name(std::string_view name) {
    set_report_name(origin_.make_cold().name, name);
}

void task_strand::start(std::coroutine_handle<> outermost) noexcept {
    suspend_at(outermost);
    spawn(*this, runtime);
}

void task_strand::run_here(std::coroutine_handle<> outermost) noexcept {
    activation().resume(*this, outermost);
}

// Resumes the strand, and then other strands for as long as they are the oldest ready runnables.
void task_strand::run_ready(runnable* self) noexcept {
    activation here(true);
    do {
        auto& me = *static_cast<task_strand*>(self);
        if (tracing::on()) [[unlikely]]
            tracing::emit(trace_kind::runs, me.saved_strand, *me.name() ? me.name() : "task",
                          me.origin_.made_at());
        here.resume(me);
        self = this_worker()->next_ready_task(&task_strand::run_ready);
    } while (self);
}

void task_strand::list() noexcept {
    point_.listed = this_worker()->services.tasks.add(*this);
}

void task_strand::unlist() noexcept {
    task_table::remove(point_.listed);
}

wait_point& task_wait::fresh_point(bool sole) noexcept {
    task_strand& self = running_strand();
    self.renew_point(sole);
    return self.point_;
}

// The steps from A3 on of a wait with a deadline or in a scope. `deadline_ns` is that of the
// options or of the scope.
bool task_wait::begin_limited(task_strand& self, wait_point& point, void (*publish)(void*) noexcept,
                              void* argument, cancel_scope* scope, std::int64_t deadline_ns,
                              const wait_options& options) noexcept {
    self.point_.limits =
        static_cast<std::uint8_t>(task_point::limited | (scope ? task_point::in_scope : 0));
    task_cold_state* const cold = self.origin_.cold();
    task_limit* limit = nullptr;
    if (deadline_ns != never) {
        limit = &cold->limit;
        limit->point = &point;
        limit->expire = [](timer& due) noexcept -> waiter* {
            wait_point& its = *static_cast<task_limit&>(due).point;
            return claim(its, wake_reason::timed_out) == claim_result::wake_it ? &its : nullptr;
        };
    }
    if (cold) {
        cold->limit.deadline_ns = deadline_ns;
        cold->deadline_ns = options.deadline_ns;
    }
    return begin_limited_wait(point, scope, limit, &self.runtime, publish, argument,
                              [&self]() noexcept { self.point_.limits = task_point::limited; }) ||
           SENNIT_MUTANT("a task that was claimed early continues at once");
}

namespace {
struct limits {
    cancel_scope* scope;
    std::int64_t deadline_ns;
    bool none() const noexcept { return !scope && deadline_ns == never; }
};
limits limits_of(const strand& identity, const wait_options& options) noexcept {
    cancel_scope* scope = options.cancellable ? identity.scope : nullptr;
    return {scope, std::min(options.deadline_ns, scope ? scope->deadline_ns() : never)};
}
} // namespace

void task_wait::reserve_limit(std::int64_t deadline_ns) {
    task_strand& self = running_strand();
    const cancel_scope* scope = self.identity().scope;
    if (deadline_ns != never || (scope && scope->deadline_ns() != never))
        (void)self.origin_.make_cold();
}

// Step A1, and the notes for reports.
[[gnu::always_inline]] inline void task_wait::note(task_strand& self, std::coroutine_handle<> at,
                                                   const wait_options& options) noexcept {
    self.suspend_at(at);
    self.what_ = options.what;
    self.on_ = options.on;
    self.point_.limits = 0;
    self.point_.holder = options.holder ? number_of_holder(options.holder) : std::uint8_t{0};
    self.identity().waits_for = wait_record(self);
    self.point_.note_time(static_cast<std::uint32_t>(this_worker()->cached_now_ns() >> 20));
    if (self.point_.listed == 0) [[unlikely]]
        self.list();
}

// Once the running strand is suspended, and may be gone: the next one takes its place without a
// detour through the loop, if the loop would resume it next and nothing else waits on this stack.
[[gnu::always_inline]] inline std::coroutine_handle<> task_wait::leave(task_run& run) noexcept {
    if (!run.at_loop || run.base != free_slot() || tracing::on()) [[unlikely]]
        return std::noop_coroutine();
    runnable* next = this_worker()->next_ready_task(&task_strand::run_ready);
    if (!next) return std::noop_coroutine();
    return transfer(activation::replace_strand(run, static_cast<task_strand&>(*next)));
}

std::coroutine_handle<> task_wait::block(std::coroutine_handle<> at, wait_list& list,
                                         base::spin_lock& held, const wait_options& options,
                                         void* data) {
    task_run& run = checked_run();
    task_strand& self = *run.strand;
    strand& identity = self.identity();
    const limits mine = limits_of(identity, options);
    self.renew_point(mine.none());
    note(self, at, options);
    wait_entry& entry = self.entry_;
    entry.data = data;
    if (mine.none()) [[likely]] {
        if (SENNIT_MUTANT("a task holds the lock from its look to its place in the list")) {
            held.unlock();
            held.lock();
        }
        enqueue(list, entry); // A2
        held.unlock();        // A3: neither the strand nor the frame may be touched from here on.
        return leave(run);
    }
    try {
        reserve_limit(mine.deadline_ns);
    } catch (...) {
        identity.waits_for = nullptr;
        held.unlock();
        throw;
    }
    enqueue(list, entry); // A2
    const auto release = [](void* lock) noexcept { static_cast<base::spin_lock*>(lock)->unlock(); };
    // A3, A4
    return begin_limited(self, self.point_, release, &held, mine.scope, mine.deadline_ns, options)
               ? leave(run)
               : at;
}

std::coroutine_handle<> task_wait::begin(std::coroutine_handle<> at, wait_point& point,
                                         void (*publish)(void*) noexcept, void* argument,
                                         const wait_options& options) noexcept {
    task_run& run = checked_run();
    task_strand& self = *run.strand;
    const limits mine = limits_of(self.identity(), options);
    note(self, at, options);
    point.parked = &self;
    return begin_limited(self, point, publish, argument, mine.scope, mine.deadline_ns, options)
               ? leave(run)
               : at;
}

[[gnu::noinline]] wake_reason task_wait::end_limited(task_strand& self,
                                                     wait_point& point) noexcept {
    // The scope is that of the begin: a suspended strand neither enters nor leaves a scope.
    cancel_scope* const scope =
        (self.point_.limits & task_point::in_scope) != 0 ? self.identity().scope : nullptr;
    task_cold_state* const cold = self.origin_.cold();
    end_limited_wait(scope, cold ? &cold->limit : nullptr, &self.runtime);
    const wake_reason why = point.reason();
    // A scope that was cancelled at the begin has ended the wait as cancelled.
    const bool by_scope = scope && cold && scope->deadline_ns() < cold->deadline_ns;
    return why == wake_reason::timed_out && by_scope ? wake_reason::cancelled : why;
}

// A wait that only its source ends has no limits.
[[gnu::always_inline]] inline wake_reason task_wait::end_of(task_strand& self,
                                                            wait_point& point) noexcept {
    self.identity().waits_for = nullptr;
    return point.sole ? point.reason() : end_limited(self, point);
}

wake_reason task_wait::end(wait_point& point) noexcept {
    return end_of(running_strand(), point);
}

wait_point& task_wait::begin_counted(std::coroutine_handle<> at,
                                     const wait_options& options) noexcept {
    wait_point& point = fresh_point(true);
    note(running_strand(), at, options);
    return point;
}

bool task_wait::only_by_source(const wait_options& options) noexcept {
    return limits_of(running_strand().identity(), options).none();
}

wait_entry& task_wait::entry() noexcept {
    return running_strand().entry_;
}

wake_reason task_wait::end() noexcept {
    task_strand& self = running_strand();
    return end_of(self, self.point_);
}

wake_reason task_wait::unblock(wait_list& list, base::spin_lock& lock) noexcept {
    task_strand& self = running_strand();
    const wake_reason why = end_of(self, self.point_);
    if (self.point_.sole) [[likely]]
        return why;
    // Also after a claim: a claimer that came before the strand slept may still be handing over.
    lock.lock();
    if (!SENNIT_MUTANT("a task leaves the list after its wait")) dequeue(list, self.entry_);
    lock.unlock();
    return why;
}

void task_wait::run_if_newest(task_strand& child) noexcept {
    worker& me = *this_worker();
    if (tracing::on() || in_cancel_scope() || me.global_poll_due_beside_children()) return;
    // At least half of the stack must be left. On a coroutine stack, wherever that lies, the
    // difference is too large.
    const auto* here = static_cast<const std::byte*>(sys::stack_pointer());
    const sys::stack& mine = me.self().stack;
    if (static_cast<std::size_t>(mine.high - here) >=
        static_cast<std::size_t>(mine.high - mine.low) / 2)
        return;
    if (!me.queue().pop_newest_if(child)) return;
    me.counted.inline_runs.add();
    activation().resume(child);
}

std::coroutine_handle<> task_wait::yield(std::coroutine_handle<> at) noexcept {
    worker& me = *this_worker();
    task_run& run = checked_run();
    task_strand& self = *run.strand;
    self.suspend_at(at);
    // The activation runs the forks that the strand leaves behind. From the exchange on, another
    // worker may resume the strand.
    if (run.at_loop && run.base == free_slot()) [[likely]]
        if (runnable* next = me.exchange_task(self, &task_strand::run_ready)) [[likely]]
            return transfer(activation::replace_strand(run, static_cast<task_strand&>(*next)));
    return me.yield_task(self) ? std::noop_coroutine() : at;
}

} // namespace sennit::sched
