// SPDX-License-Identifier: Apache-2.0
// A guest: the main thread, which calls into a runtime and runs its call itself, in the place of a
// parked worker. No sleeping thread has to be woken first, which takes 5 us, or 50 to 100 us where
// a host has to bring a halted virtual processor back.
//
// The guest *is* that worker meanwhile: its thread-local line names the worker, it pushes forks and
// tasks to the worker's queues, and thieves look for its forks there. So no more threads run than
// the runtime has workers, and the idle map shows other workers as before. The worker's own thread
// sleeps on in its parker.
//
// A guest runs its own call, and nothing else. (If a guest ran other tasks while its call waits,
// one of them might lock a mutex that the caller holds.) It leaves when the call ends, waits, or
// yields; a worker continues the call. Where the call waits for a stolen child, the guest first
// runs forks of that child for a while, and leaves if it finds none (`wait_as_guest`). The guest
// keeps a global poll due. Each way from one task to another one therefore leads to the worker's
// loop, and `poll_global_sources` leaves from there.
//
//   step                                                             | thread | where
//   G1 sleep without a duty: no deadline, no timer, no events        | owner  | idle_search::park
//      to wait for. Offer the worker, then wait on the parker.       |        |
//   G2 take the bit of an offered worker from the idle map           | guest  | run_as_guest
//   G3 mark the worker as lent; take the timer lead from it          | guest  | run_for_guest
//   G4 put the own line, with a request for work, into `thread_`     | guest  | run_for_guest
//   G5 run the call                                                  | guest  |
//   G6 give the loop's context back                                  | guest  | run_for_guest
//   G7 park the worker: S1 to S5 of src/core/README.md               | guest  | park_for_guest
//   G8 put the owner's line, with a request for work, into           | guest  | run_for_guest
//      `thread_`, and mark the worker as offered. If G7 has found    |        |
//      work or a duty, take the bit again and notify the owner       |        |
//   G9 after a wake-up, wait until the worker is not lent            | owner  | worker_loan
//
// Why the owner and the guest never use the worker at the same time. After G1 the owner's thread
// touches the worker only when it is notified, and only the thread that took the bit notifies. In
// G2 that is the guest, which does not notify before G7. The offer orders the owner's earlier
// writes before G3. From S1 of G7 on another thread may take the bit and notify the owner, which
// then waits in G9 for G8. G8 orders the guest's writes before that.
//
// Why no work is lost. To all other threads, G2 is the wake-up of the worker, and G7 its parking.
// Between the two the worker is busy. A poster that has chosen no other worker relies on the busy
// worker's next look, which is G7. A timer or an event that came meanwhile is a duty in G7.
//
// Why no fork stays hidden. A worker that parked before G4 may have sent its request to the owner's
// line. It had set its bit before, so the guest's first fork, which G4 makes public, finds the bit.
// Likewise, a worker that parks before G8 may send its request to the guest's line, so G8 leaves
// a request in the owner's line. Where no other worker exists, G4 and G8 leave no request, because
// the answer would move half of the queue and change the order in which tasks begin. A spare worker
// that begins later finds the current line in `thread_`.
//
// Why only the main thread. Thieves write into the line of the thread that they last saw on a
// worker. The main thread's line exists until the process ends; that of another thread ends with
// it.
//
// The main thread posts its call instead where its floating-point control differs from the
// runtime's, while events are traced (a trace has one thread a worker), where workers are bound to
// processors, and under a scheduling policy with an order of its own.
//
// Locks of the library. Like a worker, a guest asks for exclusive mode and has a bias id
// (single_threaded.hpp), so the locks of its call need no locked instructions. It stops asking when
// it leaves: a thread that is no worker may sleep for long while it is registered.
//
// Tested by tests/unit/core/guest_thread_test.cpp, explored by tests/sim/scenarios/guest.cpp, and
// modelled by models/idle_guest.pml.
#include "core/diagnostics/tracing.hpp"
#include "core/idle/timers.hpp"
#include "core/policy/tuning.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/switch/switching.hpp"
#include "core/worker/worker.hpp"
#include "core/worker/worker_loan.hpp"
#include "sennit/detail/core/fork_stack.hpp"
#include "sennit/detail/sys/cpu_relax.hpp"
#include "sennit/detail/sys/single_threaded.hpp"
#include "sys/clock.hpp"
#include "sys/held_mutex.hpp"
#include "sys/kernel_threads.hpp"
#include "sys/mutant.hpp"
#include "sys/single_threaded.hpp"
#include "sys/stack_overflow.hpp"

#include <cstddef>
#include <exception>
#include <mutex>
#include <new>
#include <utility>

namespace sennit::sched {

// On the guest's own stack.
struct worker::guest_visit {
    sys::machine_context own_stack;
    worker_thread& thread;
    // The place of the owner's thread.
    const pthread_t runs_on = thread.runs_on.load();
    const sys::os_thread_id os_id = thread.os_id.load();
    sys::worker_tls* const tls = thread.tls.load();
    sys::exception_globals* const exceptions = thread.exceptions;
};

namespace {

// The guest's stack for signal handlers. It is never destroyed: a handler may run until the process
// ends.
void need_signal_stack() noexcept {
    alignas(sys::signal_stack) static std::byte room[sizeof(sys::signal_stack)];
    [[maybe_unused]] static const bool made = [] {
        try {
            ::new (room) sys::signal_stack;
            return true;
        } catch (const std::exception&) {
            return false; // The report of an overflow lacks the name.
        }
    }();
}

} // namespace

bool runtime_core::run_as_guest(runnable& task) noexcept {
    if (this_worker() || policy() != scheduling::stealing || domains_.binds() || tracing::on() ||
        !sys::is_main_thread())
        return false;
    for (unsigned i = 0; i < worker_count(); ++i) {
        if (!idle_.is_set(i)) continue;
        worker& one = worker_at(i);
        if (!one.loan().is_offered() || !idle_.clear(i)) continue;
        if (one.run_for_guest(task)) return true;
        // The caller has chosen this worker: it searches for what the caller posts now.
        searching_.fetch_add(1);
        one.parker().notify_as_searcher();
        return false;
    }
    return false;
}

bool worker::run_for_guest(runnable& task) noexcept {
    // The offer may have ended, and the worker parked again, before the caller took the bit.
    if (!loan_.is_offered() || !sys::fp_note().is(runtime_.fp_control())) return false;
    context* const first = services.contexts.take(runtime_.contexts());
    if (!first) return false;
    need_signal_stack();
    sys::worker_tls& tls = sys::own_worker_tls();
    void* const strand = tls.strand;
    guest_visit visit{.own_stack = {}, .thread = thread_};
    const sys::own_stack_registration own_stack(visit.own_stack);
    // A dump halts the thread that it finds in `thread_`, and then reads the worker.
    std::unique_lock no_dump(runtime_.spares_mutex());
    loan_.borrow();
    guest_ = &visit;
    next_up_.first = &task;
    const std::uint64_t next_poll = poll_.request_all();
    idle_.begin_guest();
    tls.worker = this;
    slab_cache::enable_tls_spare_block();
    thread_.exceptions = &sys::thread_exception_globals();
    thread_.runs_on.store(sys::this_thread_handle());
    thread_.os_id.store(sys::this_os_thread());
    begin_on(tls, *first, runs_alone());
    no_dump.unlock();
    base::register_this_thread();
    base::try_become_exclusive(sys::coarse_now_ns());

    enter_as_guest(visit, *first);

    on_switched_in(); // Gives the loop's context back.
    // Orders nothing: a thief that reads it finds no fork in any context.
    tls.head.store_rlx(nullptr);
    tls.steal_requested.store_rlx(0); // Orders nothing. A later request: push_fork_slow.
    tls.strand = strand;
    slab_cache::free_tls_spare_block();
    poll_.restore(next_poll); // The owner's next picks follow the usual order.
    const bool work = idle_.park_for_guest();
    no_dump.lock();
    guest_ = nullptr;
    thread_.exceptions = visit.exceptions;
    thread_.runs_on.store(visit.runs_on);
    thread_.os_id.store(visit.os_id);
    visit.tls->steal_requested.store(runs_alone() ? 0 : 1);
    thread_.tls.store(visit.tls);
    tls.context.store_rlx(nullptr); // From here on read by this thread only.
    tls.worker = nullptr;
    const bool wakes_owner = work && runtime_.idle().clear(index_);
    if (wakes_owner) runtime_.rejoin_search();
    loan_.give_back();
    if (wakes_owner) idle_.parker().notify_as_searcher();
    no_dump.unlock();
    // If another thread has chosen the worker, that may be for other work.
    if (work && !wakes_owner) runtime_.wake_one_unproven();
    sys::unregister_as_worker(); // A busy worker may be exclusive again.
    return true;
}

bool worker::runs_alone() const noexcept {
    return runtime_.worker_count_with_spares() == 1;
}

SENNIT_NOT_INSTRUMENTED void worker::enter_as_guest(guest_visit& visit, context& first) noexcept {
#ifdef SENNIT_THREAD_SANITIZER
    visit.own_stack.tsan_fiber = __tsan_get_current_fiber();
#endif
#ifdef SENNIT_REPORT_HELD_MUTEX
    const auto held = sys::exchange_held_mutexes(first.held_mutexes);
#endif
    sys::switch_stacks(visit.own_stack, first.machine, *thread_.exceptions);
#ifdef SENNIT_REPORT_HELD_MUTEX
    (void)sys::exchange_held_mutexes(held);
#endif
}

SENNIT_NOT_INSTRUMENTED void worker::leave_as_guest() noexcept {
    context& self = this->self();
    const sys::worker_tls& tls = *thread_.tls.load_rlx(); // The own thread wrote thread_.tls.
    self.saved_head = static_cast<fork_slot*>(tls.head.load_rlx()); // Owner's own word.
    self.saved_strand = static_cast<strand*>(tls.strand);
    post_switch_.action = post_switch_action(self);
    sys::switch_stacks(self.machine, guest_->own_stack, *thread_.exceptions);
    on_switched_in(); // A worker has chosen the idle context.
}

// A stolen child runs on a worker, and usually ends soon. To leave for less would cost two
// wake-ups: of the worker's own thread, and of this one when the call ends. Meanwhile the guest
// runs forks of the child, which are a part of its call.
void worker::wait_as_guest(fork_slot& child) noexcept {
    set_fork_end(&child + 1); // The forks that run here do not touch the child's slot.
    run_forks_of(child);
    this_worker()->set_fork_end(&child);
}

// Moves the end of the running context's fork stack, which has no fork that is not stolen.
void worker::set_fork_end(fork_slot* end) noexcept {
    sys::worker_tls& tls = *thread_.tls.load_rlx(); // The own thread wrote thread_.tls.
    context& self = this->self();
    std::lock_guard guard(self.lock);
    const std::uint32_t number = self.number_of(end);
    self.forks.store(fork_range{number, number}.word());
    tls.split.store(end); // Also ends a thief's claim.
    sys::tls_set_head(end);
}

void worker::run_forks_of(const fork_slot& child) noexcept {
    const std::int64_t patience = tuning::simulated ? 0 : runtime_.options().search_time.count();
    std::int64_t until = sys::now_ns() + patience;
    do {
        if (stealing().steal_fork_of_child(child)) {
            if (this_worker() != this || !has_guest()) return; // The fork has waited.
            until = sys::now_ns() + patience;
        }
        // A parent within `child`, which has not ended therefore. This context now waits for it,
        // and the loop resumes the parent.
        if (next_up_.parent) return;
        for (unsigned i = 0; i < tuning::pauses_per_look; ++i) sys::cpu_relax();
    } while (!child.done.finished() && sys::now_ns() < until);
}

// G3. The lead passes to a worker that parks from here on. A timer that was armed while the parked
// worker led has woken no worker.
void idle_search::begin_guest() noexcept {
    woken_from_outside_ = true; // The first worker that the guest wakes leaves the processor to it.
    if (SENNIT_MUTANT("a guest takes the timer lead") || !std::exchange(leads_, false)) return;
    me_.runtime().timers().release_lead();
    if (me_.runtime().timers().next_ns() != never) me_.runtime().wake_one();
}

// G7. The parker's word has been `asleep` all the time.
bool idle_search::park_for_guest() noexcept {
    runtime_core& all = me_.runtime();
    me_.stop_consolidating();
    if (event_source* const events = all.events()) events->note_park(me_.index());
    woken_ = nullptr;
    all.idle().set(me_.index()); // S1
    all.set_unproven();          // S2
    const bool looks = !all.has_searcher();
    if (SENNIT_MUTANT("look of a guest that leaves")) return false;
    if (!me_.queue().empty() || !me_.global_sources_empty() || all.events_need_poller() ||
        (all.timers().next_ns() != never && !all.timers().has_leader()) || all.stopping())
        return true;
    if (!looks) return false;
    all.clear_unproven();
    request_share_from_all(); // S3. G8 leaves a request in the owner's line.
    const bool barrier =
        !all.all_parked_but(me_.index()) && !SENNIT_MUTANT("barrier of a guest that leaves");
    return !me_.stealing().force_publication_of_all(barrier) || work_for_others();
}

} // namespace sennit::sched
