// SPDX-License-Identifier: Apache-2.0
#include "core/diagnostics/snapshot.hpp"

#include "core/diagnostics/wait_details.hpp"
#include "core/runtime/registry.hpp"
#include "core/runtime/runtime_core.hpp"
#include "sennit/detail/core/fiber_block.hpp"
#include "sennit/detail/core/task_fork.hpp"
#include "sennit/detail/core/task_strand.hpp"
#include "sennit/detail/core/wait.hpp"
#include "sennit/detail/sys/single_threaded.hpp"
#include "sys/clock.hpp"
#include "sys/thread_suspender.hpp"
#include "sys/unwind.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

// SAFETY: offsetof in classes that are not standard layout is conditionally supported; g++ and
// clang support it for all classes without virtual bases, and fork_walk has none.
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace sennit::sched {

namespace {
constexpr std::size_t max_unwound_frames = 64;      // Of one logical thread.
constexpr std::size_t max_unwound_strands = 10'000; // Logical threads whose stacks are unwound.
constexpr std::size_t max_task_frames = 32;         // Of one task strand.
constexpr std::int64_t suspend_timeout_ns = 2'000'000'000; // For a worker to stop.
constexpr unsigned max_attempts = 1'000; // Attempts to find no worker inside its queue.
constexpr unsigned looks_for_a_lock = 1'000;
} // namespace

runtime_report snapshot::take(runtime_core& of) {
    const auto alone = registry::lock_of_snapshots();
    sys::install_thread_suspender();
    std::lock_guard same_spares(of.spares_mutex());
    snapshot mine(of);
    mine.next_id_ = fresh_ids(std::uint64_t{1} << 20);
    for (unsigned attempt = 0; attempt < max_attempts && mine.result_ != result::done; ++attempt) {
        if (attempt != 0) sys::yield_thread();
        std::lock_guard guard(of.contexts().mutex_);
        mine.reserve();
        sys::with_loader_locked(
            [](void* self) { static_cast<snapshot*>(self)->suspend_and_collect(); }, &mine);
        if (mine.result_ == result::no_room) ++mine.room_;
    }
    if (mine.found_.complete)
        for (strand_report& each : mine.found_.strands)
            if (each.stack_size != 0)
                each.stack_touched = sys::touched_bytes(of.contexts().stack_of(each.context));
    return std::move(mine.found_);
}

// Requires the pool's lock. The number of ready tasks that are no contexts is only estimated.
void snapshot::reserve() {
    const std::size_t contexts = of_.contexts().all_.size();
    std::size_t strands = 4 * contexts + 1024;
    for (unsigned i = 0; i < of_.worker_count_with_spares(); ++i)
        strands += of_.worker_at(i).queue().size() + of_.worker_at(i).pinned_queue().size() +
                   of_.worker_at(i).services.tasks.capacity();
    strands += of_.injector().size();
    strands <<= room_;
    found_ = {};
    found_.runtime = &of_;
    found_.name = of_.options().name;
    found_.workers.resize(of_.worker_count_with_spares());
    found_.strands.reserve(strands);
    found_.frames.reserve(std::min(strands, max_unwound_strands) * (max_unwound_frames / 4)
                          << room_);
    seen_.assign(contexts, 0);
}

void snapshot::suspend_and_collect() noexcept {
    if (!suspend_all_workers()) { // Another attempt would not help.
        resume_all_workers();
        result_ = result::done;
        return;
    }
    result_ = collect();
    found_.complete = result_ == result::done;
    found_.taken_ns = sys::coarse_now_ns();
    resume_all_workers();
}

bool snapshot::suspend_all_workers() noexcept {
    // A halted thread must not be exclusive: the next thread that registers would wait for it.
    base::register_this_thread();
    const std::int64_t until = sys::now_ns() + suspend_timeout_ns;
    bool all = true;
    for (unsigned i = 0; i < of_.worker_count_with_spares(); ++i) {
        worker& one = of_.worker_at(i);
        if (!one.thread().joinable()) // A spare worker whose thread was refused.
            found_.workers[i].asleep = true;
        else if (&one != this_worker())
            found_.workers[i].thread_suspended = one.suspender().request(one.runs_on());
    }
    for (unsigned i = 0; i < of_.worker_count_with_spares(); ++i) {
        worker& one = of_.worker_at(i);
        worker_report& report = found_.workers[i];
        if (&one == this_worker() || !one.thread().joinable()) continue;
        if (report.thread_suspended)
            report.thread_suspended = one.suspender().wait_until(one.runs_on(), until);
        if (report.thread_suspended)
            report.pc = one.suspender().where().pc;
        else
            all = false;
    }
    return all;
}

void snapshot::resume_all_workers() noexcept {
    for (unsigned i = 0; i < of_.worker_count_with_spares(); ++i)
        if (found_.workers[i].thread_suspended) of_.worker_at(i).suspender().resume();
}

snapshot::result snapshot::collect() noexcept {
    result now = collect_running();
    if (now == result::done) now = collect_ready();
    if (now == result::done) now = collect_blocked();
    const result tasks = collect_tasks(); // In any case: it removes the marks.
    return now == result::done ? tasks : now;
}

// Returns the context whose stack a thread stands on. A coroutine stack does not tell which context
// is on it: it is the running one, except in the middle of a switch. In that case `unclear` is set.
context* snapshot::stack_of(const void* sp, worker& likely, bool& unclear) noexcept {
    const auto on = [where = static_cast<const std::byte*>(sp)](const context& one) {
        return where >= one.stack.low && where < one.stack.high;
    };
    context* const running = likely.running();
    if (running && on(*running)) return running;
    for (context* one : of_.contexts().all_)
        if (on(*one)) return one;
    if (!coroutine_stack::find(sp)) return nullptr;
    unclear = unclear || !likely.post_switch_.action.none();
    return running;
}

snapshot::result snapshot::collect_running() noexcept {
    for (unsigned i = 0; i < of_.worker_count_with_spares(); ++i) {
        worker& one = of_.worker_at(i);
        worker_report& report = found_.workers[i];
        report.asleep = of_.idle().is_set(i) || one.spare().is_inactive();
        if (!one.thread().joinable()) continue;
        const bool caller = &one == this_worker();
        const void* sp = caller ? __builtin_frame_address(0) : one.suspender().where().sp;
        bool unclear = false;
        context* stack = stack_of(sp, one, unclear);
        // A sanitizer may have delayed the handler until the thread was on another stack.
        if (!caller)
            if (context* later = stack_of(one.suspender().where().handler_sp, one, unclear))
                stack = later;
        if (unclear) return result::again;
        if (!stack) continue; // The thread begins or ends.
        seen_[stack->index] = 1;
        sys::worker_tls* tls = one.tls();
        strand* who =
            stack == one.running() ? static_cast<strand*>(tls->strand) : stack->saved_strand;
        const std::size_t before = found_.strands.size();
        add_all_on(*stack, who, strand_state::running);
        if (found_.strands.size() == before) continue; // Only the worker loop.
        strand_report& innermost = found_.strands[before];
        innermost.worker = i;
        for (std::size_t k = before; k < found_.strands.size(); ++k)
            found_.strands[k].stack_used = static_cast<std::size_t>(
                stack_at(*stack, sp).high - static_cast<const std::byte*>(sp));
    }
    return result::done;
}

void snapshot::add_ready(runnable& item) noexcept {
    if (item.run == &context::resume_ready) {
        context& one = static_cast<context&>(item);
        if (&one.runtime != &of_ || seen_[one.index]) return;
        seen_[one.index] = 1;
        const std::size_t before = found_.strands.size();
        add_all_on(one, one.saved_strand, strand_state::ready);
        if (found_.strands.size() != before) add_frames(found_.strands[before], one);
    } else if (item.run == &fiber_block::run_queued) {
        // A fiber that has begun comes from another runtime.
        auto& block = static_cast<fiber_block&>(item);
        add(block.self(), block.migratable() && block.cold_->migration->begun
                              ? strand_state::ready
                              : strand_state::fresh);
    } else if (item.run == &task_strand::run_ready) {
        auto& one = static_cast<task_strand&>(item);
        one.point_.reported = one.point_.listed != 0;
        add_task(one, strand_state::ready);
    } else {
        ++found_.other_ready;
    }
}

snapshot::result snapshot::collect_ready() noexcept {
    const auto all = [this](auto& list) {
        for (runnable* item = list.front(); item; item = list.after(*item)) add_ready(*item);
    };
    for (unsigned i = 0; i < of_.worker_count_with_spares(); ++i) {
        worker& one = of_.worker_at(i);
        run_queue& queue = one.queue_;
        if (queue.lock_.held()) return result::again;
        all(queue.woken_);
        all(queue.yielded_);
        all(queue.spawned_);
        if (one.next_up_.first) add_ready(*one.next_up_.first);
        if (one.next_up_.parent) add_ready(*one.next_up_.parent);
    }
    const auto all_shared = [&](shared_queue& shared) {
        for (unsigned look = 0; !shared.lock_.try_lock(); ++look)
            if (look == looks_for_a_lock) return false;
        all(shared.items_);
        all(shared.shared_spawned_);
        // Only the order knows its runnables. The contexts among them are found here; other threads
        // may push meanwhile.
        if (shared.order_) {
            std::size_t others = shared.size();
            for (const context* one : of_.contexts().all_)
                if (seen_[one->index] == 0 && one->in_order) {
                    seen_[one->index] = in_order;
                    --others;
                }
            found_.other_ready += others;
        }
        shared.lock_.unlock();
        return true;
    };
    for (unsigned i = 0; i < of_.worker_count_with_spares(); ++i)
        if (!all_shared(of_.worker_at(i).pinned_queue())) return result::again;
    if (!all_shared(of_.injector())) return result::again;
    return found_.strands.size() == found_.strands.capacity() ? result::no_room : result::done;
}

snapshot::result snapshot::collect_blocked() noexcept {
    for (context* one : of_.contexts().all_) {
        const bool waits_its_turn = seen_[one->index] == in_order;
        if (seen_[one->index] != 0 && !waits_its_turn) continue;
        const std::size_t before = found_.strands.size();
        add_all_on(*one, one->saved_strand,
                   waits_its_turn ? strand_state::ready : strand_state::blocked);
        if (found_.strands.size() != before) add_frames(found_.strands[before], *one);
    }
    return found_.strands.size() == found_.strands.capacity() ? result::no_room : result::done;
}

// Adds the suspended strands, except those that `collect_ready` has added, and removes their marks.
snapshot::result snapshot::collect_tasks() noexcept {
    for (unsigned i = 0; i < of_.worker_count_with_spares(); ++i)
        of_.worker_at(i).services.tasks.for_each([this](task_strand& one) noexcept {
            const bool reported = std::exchange(one.point_.reported, false);
            if (!reported && one.identity().waits_for == wait_record(one))
                add_task(one, continues(one) ? strand_state::ready : strand_state::blocked);
        });
    return found_.strands.size() == found_.strands.capacity() ? result::no_room : result::done;
}

// True if a worker has begun to resume the strand, and the strand has not ended its wait yet. The
// worker's activation has written `outer` over the address of the innermost coroutine.
bool snapshot::continues(const task_strand& one) noexcept {
    for (unsigned i = 0; i < of_.worker_count_with_spares(); ++i) {
        const context* on = of_.worker_at(i).running();
        const task_run* run = on ? on->running_task : nullptr;
        if (run && run->below == one.own_.outer) return true;
    }
    return false;
}

void snapshot::add_task(task_strand& one, strand_state state) noexcept {
    strand_report* report = add(one.identity(), state);
    if (!report) return;
    report->is_lent = &one.identity() != &one.own_;
    describe_task(*report, one);
    if (state == strand_state::blocked)
        report->since_ns = static_cast<std::int64_t>(one.point_.suspended_at()) << 20;
    // A strand that is not listed may stand at its beginning.
    if (one.point_.listed != 0 && !continues(one)) add_task_frames(*report, one);
}

// The strand must be alive.
void snapshot::describe_task(strand_report& to, const task_strand& of) noexcept {
    to.is_task = true;
    to.made_at = of.origin_.made_at();
    if (const task_cold_state* cold = of.origin_.cold()) to.name = cold->name;
}

namespace {
// The beginning of the frame of a task or an async_generator, and of a fork_walk: the promise lies
// 16 bytes behind the beginning, and begins with the frame that awaits this one.
struct awaiting_frame {
    const void* resume;
    const void* destroy;
    const awaiting_frame* after;
};
} // namespace

void snapshot::add_task_frames(strand_report& to, task_strand& of) noexcept {
    static_assert(offsetof(fork_walk, after) == offsetof(awaiting_frame, after));
    const std::size_t room = found_.frames.capacity() - found_.frames.size();
    const void* const last = of.end().address();
    to.first_frame = found_.frames.size();
    // SAFETY: the frames are suspended, and have the layout of awaiting_frame.
    for (const auto* at = static_cast<const awaiting_frame*>(of.own_.innermost);
         at && at != last && to.frames < std::min(room, max_task_frames); at = at->after) {
        found_.frames.push_back(at->resume); // Reserved.
        ++to.frames;
    }
}

namespace {
// The activation on this stack that runs a strand with this identity; null: there is none.
const task_run* run_with(const context& stack, const strand& identity) noexcept {
    const task_run* run = stack.running_task;
    while (run && run->identity != &identity) run = run->outer;
    return run;
}
// True if the identity may be gone: the strand that the activation runs may have suspended or ended
// a moment ago, and another worker may have ended it, or the code that lent the identity. Code that
// lent it on this very stack is still there.
bool may_be_gone(const task_run* run, const strand& identity, strand_state state) noexcept {
    return run && state == strand_state::running && run->below != &identity;
}
} // namespace

// Adds the innermost logical thread, and those that continue on the stack after it.
void snapshot::add_all_on(context& stack, strand* innermost, strand_state state) noexcept {
    const strand* above = nullptr;
    for (strand *who = innermost, *next = nullptr; who; who = next) {
        const task_run* const run = run_with(stack, *who);
        if (who == innermost && may_be_gone(run, *who, state)) {
            if (!add_running_task()) return;
            next = run->below;
            continue;
        }
        next = who->outer;
        if (who == &stack.own && (who != innermost || state == strand_state::running ||
                                  stack.in_blocking_pool || !who->waits_for))
            return;
        const bool in_blocking_pool = stack.in_blocking_pool && state == strand_state::blocked;
        strand_report* report = add(*who, who != innermost   ? strand_state::below
                                          : in_blocking_pool ? strand_state::in_blocking_pool
                                                             : state);
        if (!report) return;
        if (above) report->holder = above;
        above = who;
        if (run && run->below != who) describe_task(*report, *run->strand);
        report->context = stack.index;
        report->stack_size = static_cast<std::size_t>(stack.stack.high - stack.stack.low);
        if (state != strand_state::running)
            report->stack_used = sys::depth(stack.machine, stack_at(stack, stack.machine.sp).high);
        if (who == innermost && state == strand_state::blocked)
            report->since_ns = stack.suspended_at_ns;
    }
}

// A task of which nothing else is known.
bool snapshot::add_running_task() noexcept {
    if (found_.strands.size() == found_.strands.capacity()) return false;
    strand_report& report = found_.strands.emplace_back();
    report.is_task = true;
    report.state = strand_state::running;
    return true;
}

strand_report* snapshot::add(strand& who, strand_state state) noexcept {
    // The caller detects this at the end.
    if (found_.strands.size() == found_.strands.capacity()) return nullptr;
    strand_report& report = found_.strands.emplace_back();
    report.identity = &who;
    report.state = state;
    if (const auto* block = static_cast<const fiber_block*>(who.fiber)) {
        report.is_fiber = true;
        if (block->cold_) report.name = block->cold_->name;
        report.type = block->type_.closure;
        report.made_at = block->made_at_;
        report.born_ns = block->born_ns_;
    }
    report.id = id_of(who);
    if (report.state == strand_state::in_blocking_pool) report.waits_for = "blocking";
    if (report.state != strand_state::blocked || !who.waits_for) return &report;
    const wait_details wait = details_of(who.waits_for);
    report.waits_for = wait.what;
    report.waits_on = wait.on;
    report.deadline_ns = wait.deadline_ns;
    if (wait.holder) report.holder = wait.holder(wait.on);
    return &report;
}

void snapshot::add_frames(strand_report& to, const context& of) noexcept {
    const std::size_t room = found_.frames.capacity() - found_.frames.size();
    const void* found[max_unwound_frames];
    const sys::stack on = stack_at(of, of.machine.sp);
    const std::size_t count =
        sys::unwind(of.machine, on.low, on.high, found, std::min(room, max_unwound_frames));
    to.first_frame = found_.frames.size();
    to.frames = count;
    found_.frames.insert(found_.frames.end(), found, found + count); // Reserved.
}

// Returns the number of a logical thread; assigns one if it has none.
std::uint64_t snapshot::id_of(strand& who) noexcept {
    std::uint64_t number = 0;
    return who.id.cas(number, next_id_) ? next_id_++ : number;
}

} // namespace sennit::sched
