// SPDX-License-Identifier: Apache-2.0
// The worker loop: the choice of the next task, and the switches between contexts.
//
// Every idle context is in `loop`: at the switch inside `resume`, or new at the entry. A closure
// runs on the stack of the loop that picked it. If the closure suspends, its context keeps that
// stack, and the worker switches to an idle context, whose loop continues. If the closure is
// resumed and ends, it returns into the loop frame below it, and its context is then the loop. So a
// closure that never blocks costs no switch. The number of stacks is the number of blocked
// closures, plus one for each worker, plus the cached idle contexts.
//
// A context that suspends while another context is ready on its worker switches to that context
// directly. The loop handles all other cases.
//
// Order of picking. A global poll (every `global_poll_interval` picks, sooner where picks take
// long) takes timers, the injector and the forks of suspended contexts first. Other picks take, in
// this order: runnables that were woken or yielded here, oldest first; runnables that were spawned
// here, newest first; the injector; then stealing: forks of running contexts, forks of suspended
// ones. src/core/README.md states which task begins when. A thief also sends steal requests for
// queued tasks, and gets half of a queue through the injector. It takes tasks itself only from a
// worker that makes no progress (src/core/idle/idle_search.cpp).
#include "core/worker/worker.hpp"

#include "core/diagnostics/deadlock_detector.hpp"
#include "core/diagnostics/tracing.hpp"
#include "core/diagnostics/wait_details.hpp"
#include "core/policy/tuning.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/switch/switching.hpp"
#include "core/worker/model_hooks.hpp"
#include "sennit/detail/base/check.hpp"
#include "sennit/detail/base/return_thunk.hpp"
#include "sennit/detail/core/random.hpp"
#include "sennit/detail/core/wait.hpp"
#include "sennit/detail/sys/single_threaded.hpp"
#include "sys/clock.hpp"
#include "sys/mutant.hpp"
#include "sys/return_thunk.hpp"
#include "sys/stack_overflow.hpp"
#include "sys/topology.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <utility>

namespace sennit::sched {

worker::worker(runtime_core& runtime, unsigned index, kind as)
    : services(index + 1), runtime_(runtime), index_(index), idle_(*this),
      spare_(as == kind::spare) {}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
static_assert(offsetof(worker, memory) == 0, "detail::list_of takes a worker for its lists");
#pragma GCC diagnostic pop

worker::~worker() {
    if (!SENNIT_MUTANT("coroutine stacks are left to others")) services.coroutine_stacks.give_all();
}

void worker::start() {
    rules_.workers = runtime_.worker_capacity();
    rules_.sleepers = &runtime_.idle();
    rules_.steals = runtime_.steals();
    rules_.local_affinity = runtime_.policy() == scheduling::sharing ? placement_rules::no_affinity
                            : rules_.steals                          ? 0
                                                                     : affinity();
    rules_.fast_suspend = rules_.steals && !tracing::on();
    rules_.fast_path_affinity =
        tracing::on() ? placement_rules::no_affinity : rules_.local_affinity;
    rules_.consolidates = runtime_.consolidation().enabled() && runtime_.worker_capacity() > 1;
    idle_.prepare(runtime_.worker_capacity(), runtime_.options().search_time);
    thread_.handle = sys::thread(&worker::thread_main, this);
    thread_.runs_on.store(thread_.handle.handle());
}

void worker::join() {
    thread_.handle.join();
}

void worker::disown_thread() noexcept {
    thread_.handle.disown();
}

// Workers that parked before this worker ran on the thread with this line could send it no request
// there, so the first fork is published without a request. `alone`: no other worker exists.
void worker::begin_on(sys::worker_tls& tls, context& first, bool alone) noexcept {
    tls.head.store_rlx(first.saved_head);  // Published with thread_.tls below.
    tls.split.store_rlx(first.saved_head); // Published with thread_.tls below.
    tls.strand = first.saved_strand;
    tls.context.store(&first);
    if (rules_.steals && !alone && !SENNIT_MUTANT("first fork is public"))
        tls.steal_requested.store(1);
    thread_.tls.store(&tls);
}

SENNIT_NOT_INSTRUMENTED void worker::thread_main(void* self) noexcept {
    worker& me = *static_cast<worker*>(self);
    std::optional<sys::signal_stack> alternate_stack;
    try {
        alternate_stack.emplace();
    } catch (const std::exception&) {
        // Without the alternate stack an overflow still ends the program, but the report lacks the
        // name.
    }
    char name[16];
    const std::string& group = me.runtime_.options().name;
    std::snprintf(name, sizeof name, "%.10s-%u", group.empty() ? "sennit" : group.c_str(),
                  me.index_);
    sys::thread::set_name(name);
    sys::thread::minimize_timer_slack(); // One of the workers sleeps until the next timer.
    sys::allow_thread_suspension();
    me.thread_.os_id.store(sys::this_os_thread());
    me.poll_.read_clock();
    base::register_this_thread();
    base::try_become_exclusive(me.cached_now_ns());
    me.runtime_.place_worker(me.index_);

    sys::retain_return_thunk();
    sys::worker_tls& tls = sys::own_worker_tls();
    tls.worker = &me;
    slab_cache::enable_tls_spare_block();
    me.thread_.exceptions = &sys::thread_exception_globals();
    me.thread_.own_stack.fp_usual = sys::read_fp_control();
#ifdef SENNIT_THREAD_SANITIZER
    me.thread_.own_stack.tsan_fiber = __tsan_get_current_fiber();
#endif
    context& first = me.runtime_.first_context(me.index_);
    me.begin_on(tls, first, false);
    sys::switch_stacks(me.thread_.own_stack, first.machine, *me.thread_.exceptions);

    // Thieves read this hot line until the last worker has left its loop.
    me.runtime_.wait_for_all_workers();
    slab_cache::free_tls_spare_block();
    tls.worker = nullptr;
    tls.head.store_rlx(nullptr);    // From here on read by this thread only.
    tls.context.store_rlx(nullptr); // From here on read by this thread only.
    tls.strand = nullptr;
    base::end_registration();
}

namespace {
void trace_run(context& next) noexcept {
    strand* who = next.saved_strand;
    tracing::emit(trace_kind::runs, who == &next.own ? nullptr : who);
}
} // namespace

// This function and the next are separate, so that the compiler saves no registers for a call that
// is rarely made.
[[gnu::noinline, gnu::cold]] SENNIT_NOT_INSTRUMENTED void
worker::switch_traced(context& target) noexcept {
    trace_run(target);
    switch_now(self(), target);
}

[[gnu::noinline, gnu::cold]] void worker::note_suspend(context& self, context& next) noexcept {
    if (!rules_.steals) self.affinity = affinity();
    if (!tracing::on()) return;
    strand* me = current_strand();
    // While a context runs in the blocking pool, the helper thread reports what the logical thread
    // waits for.
    const char* why = self.in_blocking_pool ? "blocking"
                      : me->waits_for       ? details_of(me->waits_for).what
                                            : "its turn";
    tracing::emit(trace_kind::suspends, me, why);
    trace_run(next);
}

// Runs the request of the outgoing context `left`, on the stack of the context that was switched
// to.
void worker::run_post_switch(context& left) noexcept {
    if (!post_switch_.fn) {
        services.contexts.give(left, runtime_.contexts());
        return;
    }
    auto after = std::exchange(post_switch_.fn, nullptr);
    // False: `left` need not wait. It was out of sight meanwhile, and the context that came instead
    // may run for long, so putting `left` back is a post.
    if (after(post_switch_.argument, *post_switch_.who)) return;
    if (!is_local(left)) return post_by_policy(left);
    const std::uint32_t queued = queue_.push_woken_first(left);
    if (!SENNIT_MUTANT("post of who need not wait")) posted(queued);
}

SENNIT_NOT_INSTRUMENTED void worker::finish() noexcept {
    context& self = this->self();
    sys::switch_stacks(self.machine, thread_.own_stack, *thread_.exceptions);
    base::fail("[SNT-905] an ended worker's context was resumed; this is a bug in Sennit: please "
               "report it",
               __FILE__, __LINE__);
}

context* worker::idle_context() noexcept {
    context* found = services.contexts.take(runtime_.contexts());
    if (found) counted.suspended_to_idle.add();
    return found;
}

void worker::loop() noexcept {
    // The worker is read again each time: the task may have moved this context to another worker.
    while (this_worker()->run_one()) {
    }
    this_worker()->finish();
    __builtin_unreachable();
}

bool worker::run_one() noexcept {
    if (runnable* first = std::exchange(next_up_.first, nullptr)) {
        run(*first);
        return true;
    }
    if (context* parent = std::exchange(next_up_.parent, nullptr)) {
        resume(*parent);
        return true;
    }
    if (run_next_task()) return true;
    policies.sharing.note_dry();
    if (run_timers() || run_events() || stealing().steal_fork()) return true;
    counted.failed_steals.add();
    const std::int64_t idle_since = sys::now_ns();
    const bool more = idle_.park_or_find_work();
    policies.consolidation.exclude(sys::now_ns() - idle_since);
    poll_.read_clock();
    if (idle_.caught().count != 0) (void)run_events();
    return more;
}

bool worker::run_next_task() noexcept {
    if (global_poll_due() && poll_global_sources()) return true;
    if (share_requested()) (void)share_half();
    runnable* item = queue_.pop();
    if (!item) item = pop_global(shared_queue::new_work::last);
    if (!item) {
        poll_.count_empty_pick();
        return false;
    }
    run(*item);
    return true;
}

bool worker::global_sources_empty() const noexcept {
    return pinned_queue_.empty() && runtime_.injector().empty();
}

// Takes from the pinned queue and the injector alternately. Otherwise a pinned runnable that yields
// in a loop would starve the work that any worker may run.
runnable* worker::pop_global(shared_queue::new_work when) noexcept {
    if (poll_.last_was_pinned)
        if (runnable* item = runtime_.injector().pop(when)) {
            poll_.last_was_pinned = false;
            counted.tasks_injected.add();
            return item;
        }
    if (runnable* item = pinned_queue_.pop()) {
        poll_.last_was_pinned = true;
        counted.tasks_injected.add();
        return item;
    }
    runnable* item = runtime_.injector().pop(when);
    if (item) counted.tasks_injected.add();
    return item;
}

// Returns true if a timer was due.
bool worker::expire_timers() noexcept {
    const std::int64_t next = runtime_.timers().next_ns();
    if (next == never) return false;
    const std::int64_t now = sys::now_ns();
    if (now < next) return false;
    runtime_.timers().expire(now);
    return true;
}

// Expires timers while the worker has nothing else to do. The first task that a timer wakes runs
// immediately on this worker, so no other worker need be woken for it. A wake-up would precede that
// task, and takes up to 80 us where a host has to bring a halted virtual processor back.
bool worker::run_timers() noexcept {
    next_push_runs_here_ = true;
    const bool due = expire_timers();
    next_push_runs_here_ = false;
    if (due && runtime_.timers().next_ns() != never &&
        !SENNIT_MUTANT("wake-up for the timers that are left"))
        runtime_.wake_one(); // This worker may no longer be the timer leader.
    if (runnable* item = due ? queue_.pop() : nullptr) run(*item);
    return due;
}

bool worker::poll_events() noexcept {
    event_source* const source = runtime_.active_events();
    if (!source || source->has_poller()) return false;
    source->take(idle_.caught());
    return deliver_events();
}

bool worker::deliver_events() noexcept {
    if (idle_.caught().count == 0) return false;
    runtime_.events()->note_delivery(index_);
    runtime_.events()->deliver(idle_.caught());
    return true;
}

// Delivers events while the worker has nothing else to do. As for timers, the first task that an
// event makes ready runs immediately on this worker, and wakes no other worker. Returns true if
// there were events.
bool worker::run_events() noexcept {
    next_push_runs_here_ = true;
    const event_source* const source = runtime_.events();
    // The busy poller polls as soon as it has nothing to run.
    const bool leaves = source && source->has_busy_poller_beside(index_);
    const bool any = deliver_events() || (!leaves && poll_events());
    next_push_runs_here_ = false;
    // Under round_robin no worker looks for further work when its search ends.
    if (any && !rules_.steals && runtime_.events_need_poller()) runtime_.wake_one();
    if (runnable* item = any ? queue_.pop() : nullptr) run(*item);
    return any;
}

std::uint64_t worker::progress_counter() const noexcept {
    const context* here = running();
    return counted.tasks_run() + (here ? hooks::items_done_on(*here) : 0);
}

// ---- the own queue

// This worker probably runs a lone task next, so the task is not worth a wake-up as long as a
// sentinel watches that the worker reaches it. The same argument holds for several tasks that will
// soon be done.
void worker::posted_slowly(std::uint32_t queued) noexcept {
    if (!rules_.steals) return; // No other worker may run it.
    if (queued > 1 && steal_requested() && share_half()) return;
    if (queued == 1 && next_push_runs_here_) return;
    if ((queued == 1 || policies.sharing.tasks_are_short() || is_host()) && runtime_.has_sentinel())
        return;
    runtime_.wake_one();
}

// True if a runnable with an affinity is better run here. This holds if its affinity is this
// worker; if its worker is parked, since running here avoids a wake-up; and, at random, now and
// then, because the runnable may communicate with a task on this worker all the time.
bool worker::prefer_local(const runnable& item) noexcept {
    return item.affinity == affinity() || is_host() || runtime_.idle().is_set(item.affinity - 1u) ||
           random_below(tuning::moves_one_in) == 0;
}

// Posts a runnable that does not go through the own queue: it is pinned to a worker, or the policy
// demands it.
void worker::post_by_policy(runnable& item) noexcept {
    if (item.affinity_is_soft && item.affinity != 0 && prefer_local(item)) {
        posted(queue_.push_woken(item));
        return;
    }
    if (rules_.steals || item.affinity != 0) {
        runtime_.post(item);
        return;
    }
    item.affinity = affinity(); // A runnable that begins here stays here.
    posted(queue_.push_woken(item));
}

// The outgoing context goes behind all ready tasks. The number of ready tasks stays equal, so no
// worker need be woken.
void worker::requeue(resumable& self) noexcept {
    if (is_local(self))
        queue_.push_yielded(self);
    else
        post_by_policy(self);
}

// Answers a steal request. If sharing is worth it, moves the older half to the injector, and wakes
// a worker to take it.
bool worker::share_half() noexcept {
    thread_.tls.load_rlx()->steal_requested.store(0); // The own thread wrote thread_.tls.
    if (!policies.sharing.should_share(queue_.size(), counted.tasks_run(), queue_.oldest_spawned(),
                                       runtime_.has_searcher(), sys::now_ns()))
        return false;
    run_queue::batch half;
    // The host keeps its woken tasks.
    const bool hosts = is_host();
    const std::uint32_t given = hosts ? queue_.take_new_half(half) : queue_.take_half(half);
    if (hosts && given == 0) return false;
    if (given != 0) runtime_.injector().push_batch(half);
    runtime_.wake_one_unproven(); // The request is answered: forks that come next may stay private.
    return true;
}

// Yields to a ready context with one exchange in the queue and one switch. Returns false if the
// next task is no such context.
template <bool traced>
[[gnu::always_inline]] inline bool worker::exchange(context& self) noexcept {
    publish_all(self);
    runnable* next = queue_.begin_exchange(self, &context::resume_ready);
    if (!next) [[unlikely]]
        return false;
    counted.tasks_picked.add();
    context& target = static_cast<context&>(*next);
    runtime_core::unregister_stealable(target);
    if constexpr (traced)
        switch_traced(target);
    else
        switch_now(self, target);
    // Usually the context that was left here has yielded as well.
    if (worker& here = *this_worker(); here.post_switch_.action.none()) [[likely]]
        here.queue_.end_exchange();
    else
        on_switched_in();
    return true;
}

[[gnu::always_inline]] inline void worker::yield() noexcept {
    if (!queue_.lifo.closed()) [[unlikely]]
        flush_lifo_slot();
    context& self = this->self();
    if (global_poll_due() || share_requested() || self.affinity != rules_.fast_path_affinity)
        [[unlikely]]
        return yield_slowly();
    if (!exchange<false>(self)) [[unlikely]]
        return yield_slowly();
}

[[gnu::noinline]] void worker::yield_slowly() noexcept {
    if (tracing::on() && !global_poll_due() && !share_requested() && is_local(self()) &&
        exchange<true>(self()))
        return;
    if (queue_.empty() && !global_poll_due()) {
        if (global_sources_empty()) {
            count_loop_run(); // The context continues to run.
            if (steal_requested()) publish_on_request();
            return;
        }
        // A context alone in its queue would come back immediately, so outside work goes before it.
        // A context with another affinity goes outside itself.
        if (is_local(self())) {
            poll_.make_due(counted.tasks_picked.read());
            poll_.own_queue_first = false;
            poll_.begin_shared.make_due(); // Shared new work does not wait for a tick either.
        }
    }
    queue_.promote_newest_if_it_is_next();
    waiter who;
    suspend_current(
        [](void*, waiter& left) noexcept {
            this_worker()->requeue(*left.parked);
            return true;
        },
        nullptr, who);
}

void worker::yield_on_request() noexcept {
    // A steal request may have come before or meanwhile, and parked thieves rely on it.
    thread_.tls.load_rlx()->steal_requested.store(1); // The own thread wrote thread_.tls.
    yield();
}

bool worker::yield_task(resumable& self) noexcept {
    if (!queue_.lifo.closed()) [[unlikely]]
        flush_lifo_slot();
    if (queue_.empty() && !global_poll_due() && global_sources_empty()) {
        count_loop_run();
        if (steal_requested()) publish_on_request();
        return false;
    }
    queue_.promote_newest_if_it_is_next();
    requeue(self);
    return true;
}

[[gnu::always_inline]] inline void worker::wake_here(resumable& parked) noexcept {
    if (parked.affinity == rules_.fast_path_affinity) [[likely]]
        return posted(queue_.push_woken(parked));
    wake_slowly(parked);
}

[[gnu::noinline]] void worker::wake_slowly(resumable& parked) noexcept {
    tracing::emit(trace_kind::wakes, parked.saved_strand);
    post_woken(parked);
}

bool worker::stress_one_in([[maybe_unused]] unsigned n) noexcept {
#ifdef SENNIT_STRESS
    if (services.random.below(n) != 0) return false;
    if (services.random.below(16) == 0) sys::yield_thread();
    return true;
#else
    return false;
#endif
}

void worker::run(runnable& item) noexcept {
    count_loop_run();
    end_search();
    self().order = queue_.present();
    item.run(&item); // May suspend: nothing of *this may be used afterwards.
}

bool worker::run_instead(runnable& item) noexcept {
    if (!queue_.lifo.closed()) [[unlikely]]
        flush_lifo_slot();
    context* next = idle_context();
    if (!next) return false;
    next_up_.first = &item;
    waiter who;
    switch_away(
        *next,
        [](void*, waiter& self) noexcept {
            this_worker()->post_woken(*self.parked);
            return true;
        },
        nullptr, who);
    return true;
}

void worker::run_on(context& target, runnable& item) noexcept {
    next_up_.first = &item;
    resume(target);
}

// ---- verbs

runtime_core* current_runtime() noexcept {
    worker* me = this_worker();
    return me ? &me->runtime() : nullptr;
}

const void* current_context() noexcept {
    worker* me = this_worker();
    return me ? &me->self() : nullptr;
}

unsigned current_shard() noexcept {
    worker* me = this_worker();
    return me ? me->affinity() : 0;
}

unsigned shard_count() noexcept {
    static const unsigned count = std::clamp(std::bit_ceil(sys::usable_cpus()), 8u, 64u);
    return count;
}

std::uint16_t affinity_of_worker(runtime_core& where, unsigned worker) {
    return where.affinity_to(worker);
}

std::uint16_t affinity_here(runtime_core& where) noexcept {
    worker* me = this_worker();
    return me && &me->runtime() == &where && !me->spare().is_spare() ? me->affinity()
                                                                     : where.next_affinity();
}

void schedule(runnable& what, runtime_core& where) noexcept {
    worker* me = this_worker();
    if (me && &me->runtime() == &where)
        me->post_woken(what);
    else
        where.post(what);
}

void spawn(runnable& what, runtime_core& where) noexcept {
    worker* me = this_worker();
    if (me && &me->runtime() == &where)
        me->post_spawned(what);
    else
        where.post(what);
}

SENNIT_RETURN_VIA_THUNK bool suspend(bool (*after)(void*, waiter&) noexcept, void* argument,
                                     waiter& who) noexcept {
    return this_worker()->suspend_current(after, argument, who);
}

void yield() noexcept {
    if (worker* me = this_worker()) [[likely]]
        return me->yield();
    sys::yield_thread();
}

void yield_on_request() noexcept {
    if (worker* me = this_worker()) me->yield_on_request();
}

std::uint32_t random_below(std::uint32_t n) noexcept {
    if (worker* me = this_worker()) return me->random_below(n);
    base::random once(static_cast<std::uint64_t>(sys::now_ns()));
    once.next(); // Neighbouring seeds begin alike.
    return once.below(n);
}

void yield_thread() noexcept {
    sys::yield_thread();
}

void wake(waiter& who) noexcept {
    if (resumable* parked = who.parked) {
        worker* me = this_worker();
        if (me && &me->runtime() == &parked->runtime) return me->wake_here(*parked);
        tracing::emit(trace_kind::wakes, parked->saved_strand);
        parked->runtime.post(*parked);
        return;
    }
    const base::atomic<std::uint32_t>& word = who.signal;
    who.signal.store(1);
    sys::futex_wake(word, 1); // The frame may be gone: at worst another thread wakes without need.
}

SENNIT_RETURN_VIA_THUNK void park(bool (*publish)(void*, waiter&) noexcept, void* argument,
                                  waiter& who) noexcept {
    if (this_worker() && suspend(publish, argument, who)) return;
    who.parked = nullptr;
    if (!publish(argument, who)) return;
    sleep_for_good(who);
}

} // namespace sennit::sched
