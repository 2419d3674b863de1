// SPDX-License-Identifier: Apache-2.0
// A worker: one OS thread that runs contexts.
//
// Which threads run this: the worker's own thread, except where a member says "any thread" or
// "thief". Contexts move between workers, so code that may have suspended calls `this_worker()`
// again.
#pragma once

#include "core/idle/idle_search.hpp"
#include "core/memory/slab_cache.hpp"
#include "core/queues/run_queue.hpp"
#include "core/queues/shared_queue.hpp"
#include "core/spare/spare_state.hpp"
#include "core/spare/watchdog_note.hpp"
#include "core/switch/context.hpp"
#include "core/switch/post_switch.hpp"
#include "core/worker/counters.hpp"
#include "core/worker/global_poll.hpp"
#include "core/worker/placement_rules.hpp"
#include "core/worker/thief.hpp"
#include "core/worker/worker_loan.hpp"
#include "core/worker/worker_policies.hpp"
#include "core/worker/worker_services.hpp"
#include "core/worker/worker_thread.hpp"
#include "sennit/detail/core/verbs.hpp"
#include "sennit/detail/sys/worker_tls.hpp"

#include <cstdint>

namespace sennit::sched {

class runtime_core;

// The first part of a worker, which inline functions of the headers reach through its address.
struct worker_memory {
    slab_cache memory; // Own thread.
};

class alignas(base::destructive_distance) worker : public worker_memory {
public:
    enum class kind { regular, spare };
    worker(runtime_core& runtime, unsigned index, kind as);
    ~worker();

    // Starts the thread. Throws std::system_error or std::bad_alloc; the worker may then be
    // destroyed.
    void start();
    void join();
    sys::thread& thread() noexcept { return thread_.handle; }
    sys::thread_suspender& suspender() noexcept { return thread_.suspender; }
    void disown_thread() noexcept; // In a child of fork(), where the thread does not exist.
    // Any thread, once the thread has started. The thread that runs the worker.
    pthread_t runs_on() const noexcept { return thread_.runs_on.load(); }
    // Any thread: a metric.
    std::size_t cached_context_count() const noexcept { return services.contexts.size(); }

    // The worker loop. It runs on every idle context and returns on none.
    [[noreturn]] static void loop() noexcept;
    // On a thread outside, which has taken this worker's bit from the idle map. Runs `task` on the
    // calling thread until the task ends or first has to wait. Returns false if the worker is not
    // offered, or if there is no memory for a stack. guest_thread.cpp.
    bool run_for_guest(runnable& task) noexcept;
    worker_loan& loan() noexcept { return loan_; } // See worker_loan.hpp.
    // Own thread. True on the thread of a guest.
    bool has_guest() const noexcept { return guest_; }
    // On the thread of a guest. Waits for a stolen child, at most as long as a worker searches, and
    // runs forks of the child meanwhile.
    void wait_as_guest(fork_slot& child) noexcept;
    // Runs the post-switch action of the outgoing context, once that context has been saved. This
    // must be the first call on a stack after each switch.
    static void on_switched_in() noexcept;

    // Own thread. Makes `item` ready on this worker, and wakes a parked worker if one is needed.
    void post_woken(runnable& item) noexcept {
        if (item.affinity != rules_.local_affinity) [[unlikely]]
            return post_by_policy(item);
        posted(queue_.push_woken(item));
    }
    void post_spawned(runnable& item) noexcept {
        if (item.affinity != rules_.local_affinity) [[unlikely]]
            return post_by_policy(item);
        posted(queue_.push_spawned(item));
    }
    // Own thread. Post `item` only if `wanted()`, which is called inside the run queue's lock,
    // returns true. Return true if `item` was posted.
    template <class F>
    bool post_woken_if(runnable& item, F&& wanted) noexcept {
        return post_if(item, wanted,
                       [this](runnable& one, F& why) { return queue_.push_woken_if(one, why); });
    }
    template <class F>
    bool post_yielded_if(runnable& item, F&& wanted) noexcept {
        return post_if(item, wanted,
                       [this](runnable& one, F& why) { return queue_.push_yielded_if(one, why); });
    }
    template <class F>
    bool post_spawned_if(runnable& item, F&& wanted) noexcept {
        return post_if(item, wanted,
                       [this](runnable& one, F& why) { return queue_.push_spawned_if(one, why); });
    }
    template <class F, class Push>
    [[gnu::always_inline]] bool post_if(runnable& item, F& wanted, Push&& push) noexcept {
        if (item.affinity != rules_.local_affinity) [[unlikely]] {
            bool in = false;
            queue_.inside([&] {
                if ((in = wanted()) && item.owned) clear_owner(item);
            });
            if (in) post_by_policy(item);
            return in;
        }
        const std::uint32_t queued = push(item, wanted);
        if (queued != 0) posted(queued);
        return queued != 0;
    }
    // Own thread. True if a thief has sent a steal request.
    bool steal_requested() const noexcept {
        return sys::tls_steal_requested(); // A pending request, which the owner checks again before
                                           // it acts.
    }
    // True if a thief has sent a steal request and the queue has a half to give. For a lone task
    // the request stays pending.
    bool share_requested() const noexcept { return steal_requested() && queue_.size() > 1; }
    // Must follow each push into the own queue. `queued` is the size of the queue after the push.
    void posted(std::uint32_t queued) noexcept {
        // `store size; load idle map`: the parking worker's barrier is the processor's half.
        base::compiler_barrier();
        if (rules_.sleepers->any(rules_.workers) || (queued > 1 && steal_requested())) [[unlikely]]
            posted_slowly(queued);
    }
    void posted_slowly(std::uint32_t queued) noexcept;
    // Closes the LIFO slot before a handler leaves its context or this worker forgets the handler.
    // The message in the slot moves to where all workers can see it.
    // src/actors/runtime/mailbox.cpp.
    [[gnu::noinline, gnu::cold]] void flush_lifo_slot() noexcept;
    // Closes the LIFO slot before a handler blocks. The handler will continue on the worker where
    // the mailbox of its batch is.
    [[gnu::noinline, gnu::cold]] void flush_lifo_slot_before_block() noexcept;
    // True if a lone task that was pushed here needs a wake-up, provided there is no sentinel.
    bool somebody_sleeps() const noexcept {
        // As in `posted`, the parking worker's barrier is the processor's half.
        base::compiler_barrier();
        return rules_.sleepers->any(rules_.workers);
    }
    // Own thread. Makes a blocked context or task of this runtime ready.
    void wake_here(resumable& parked) noexcept;
    // Lets the ready tasks of this worker run first.
    void yield() noexcept;
    [[gnu::noinline]] void yield_slowly() noexcept;
    void yield_on_request() noexcept; // The watchdog has requested a turn.
    // Makes the running task ready behind all ready tasks. Returns false if there are none: the
    // task then continues. Otherwise another worker may resume the task before the call returns.
    bool yield_task(resumable& self) noexcept;
    // The short form of yield_task: returns the oldest ready runnable in exchange for `self` if its
    // function is `function`. Null, without any effect, if another kind of runnable is next, or if
    // the worker's loop has to decide.
    runnable* exchange_task(resumable& self, void (*function)(runnable*) noexcept) noexcept {
        if (!queue_.lifo.closed() || self.affinity != rules_.fast_path_affinity || loop_decides())
            [[unlikely]]
            return nullptr;
        runnable* item = queue_.exchange(self, function);
        if (!item) [[unlikely]]
            return nullptr;
        count_loop_run();
        this->self().order = queue_.present();
        return item;
    }
    // From the loop that resumes tasks, which has just left one. Returns the oldest ready runnable
    // if its function is `function`, without a detour through the loop. Null if another kind of
    // runnable is next, or if the worker's loop has to decide.
    runnable* next_ready_task(void (*function)(runnable*) noexcept) noexcept {
        if (loop_decides()) [[unlikely]]
            return nullptr;
        runnable* item = queue_.pop_ready_if(function);
        if (!item) return nullptr;
        count_loop_run();
        self().order = queue_.present();
        return item;
    }
    // Runs `item` immediately, and makes the calling context ready. Returns false, without any
    // effect, if there is no other stack.
    bool run_instead(runnable& item) noexcept;

    // True if a runnable with this affinity goes through the run queue.
    bool is_local(const runnable& item) const noexcept {
        return item.affinity == rules_.local_affinity;
    }
    std::uint16_t affinity() const noexcept { return static_cast<std::uint16_t>(index_ + 1); }
    // From the loop. Runs `item` on the idle context `target`.
    void run_on(context& target, runnable& item) noexcept;

    // From the loop. Switches to a saved context; the loop's own context becomes idle.
    void resume(context& target) noexcept;
    // From user code on `self`. Leaves `self` for an idle context. Returns false if there is no
    // idle context and none can be made.
    bool suspend_current(bool (*after)(void*, waiter&) noexcept, void* argument,
                         waiter& who) noexcept;
    // Switches directly to `next`, a blocked context that has to be made ready. Returns false if
    // another task would run before `next`, or if `next` may not run on this worker now.
    bool switch_directly_to(context& next, waiter& who) noexcept;
    // Leaves the calling context where the only post-switch action is to release a spin lock.
    // Returns false if there is no idle context and none can be made.
    bool suspend_and_unlock(base::spin_lock& held, waiter& who) noexcept;

    // Publication of forks; implemented in fork_stack.cpp.
    void publish_on_request() noexcept;
    void publish_all(context& owner) noexcept {
        // Usually nothing is forked: `head` is at its start, and the public slots were taken back.
        if (sys::tls_head() != owner.fork_base()) [[unlikely]]
            publish_rest(owner);
    }
    bool take_back(fork_slot* slot) noexcept;
    // Own thread. Resumes `parent`, whose last child just finished on this worker, as soon as the
    // loop runs again.
    void resume_next(context& parent) noexcept { next_up_.parent = &parent; }
    // Own thread. False on a guest that may find no stack for the loop: the guest is in the midst
    // of its call.
    bool can_resume_next() const noexcept { return !guest_ || services.contexts.size() != 0; }

    // Any thread.
    context* running() const noexcept {
        // pairs with thread_main
        sys::worker_tls* tls = thread_.tls.load_acq();
        // pairs with switch_to
        return tls ? static_cast<context*>(tls->context.load_acq()) : nullptr;
    }
    // Any thread. A counter that changes when a task or a message has ended on this worker. A hint.
    std::uint64_t progress_counter() const noexcept;
    // Any thread. Null before the thread has begun.
    sys::worker_tls* tls() const noexcept { return thread_.tls.load(); }
    run_queue& queue() noexcept { return queue_; }
    shared_queue& pinned_queue() noexcept { return pinned_queue_; }
    // Any thread. The worker's place to sleep.
    sched::parker& parker() noexcept { return idle_.parker(); }
    // Own thread, before it wakes another worker.
    waker_note leave_waker_note(worker& woken) noexcept;
    // Any thread, see idle_search.hpp.
    const idle_search& idling() const noexcept { return idle_; }
    thief stealing() noexcept { return thief(*this); } // Own thread.
    // Own thread. Must precede each run of work that the loop has taken.
    void end_search() noexcept { idle_.end_search(); }
    void hand_over_search() noexcept { idle_.hand_over_search(); } // See idle_search.hpp.
    // Own thread. True if no other thread has made a task ready for this worker or for any worker.
    bool global_sources_empty() const noexcept;
    // Own thread. A spare worker that was told to leave empties its queue, and sleeps until it is
    // activated again. Returns true if there is work for it then. False: the runtime ends.
    bool deactivate() noexcept;
    // Any thread. The thread's kernel id; 0 before the thread has begun.
    sys::os_thread_id os_thread() const noexcept { return thread_.os_id.load(); }
    // Own thread, after it has stopped being parked. Later pushes see each steal request of a
    // worker that took this one for parked: README.md, "Why no fork stays hidden".
    void see_steal_requests() const noexcept {
        (void)thread_.tls.load_rlx()->steal_requested.load(); // The own thread wrote thread_.tls.
    }
    void request_share(worker& asks) noexcept {
        // acquire pairs with thread_main's store
        sys::worker_tls* tls = thread_.tls.load_acq();
        if (!tls || tls->steal_requested.load() != 0) return;
        tls->steal_requested.store(1); // pairs with thread_main
        asks.counted.steal_requests.add();
    }

    // The watchdog. Asks the running task to yield at its next lock that takes the slow path.
    void request_turn() noexcept {
        // acquire pairs with thread_main's store
        if (sys::worker_tls* const tls = thread_.tls.load_acq())
            tls->steal_requested.store(sys::worker_tls::turn_request);
    }

    // Own thread. Takes the events from outside and makes their waiters ready, unless a parked
    // worker waits for them. Returns true if there were any.
    bool poll_events() noexcept;

    // True about once in `n` calls in stress builds, and false in all other builds. In stress
    // builds a true result sometimes also yields the thread's processor.
    bool stress_one_in(unsigned n) noexcept;

    // Own thread. The approximate time: the worker reads the coarse clock every few picks, and when
    // it wakes.
    std::int64_t cached_now_ns() const noexcept { return poll_.cached_now_ns(); }
    // Own thread. A fiber is about to run a child on its own stack, which is no pick. Returns true
    // if the next global poll is due instead, because enough children have run that way and the
    // clock has ticked; the fiber then leaves its context to wait.
    bool global_poll_due_beside_children() noexcept {
        return poll_.clock_due_beside_children(counted.inline_runs.read()) &&
               check_clock_beside_children();
    }
    // Any thread: `request`. Own thread: the rest.
    global_poll_schedule& polls() noexcept { return poll_; }

    // Own thread.
    std::uint32_t random_below(std::uint32_t n) noexcept { return services.random.below(n); }

    runtime_core& runtime() noexcept { return runtime_; }
    // Own thread: the context that runs here.
    context& self() noexcept { return *static_cast<context*>(sys::tls_context()); }
    unsigned index() const noexcept { return index_; }
    // True if this runtime's workers take work from each other.
    bool steals() const noexcept { return rules_.steals; }

    spare_state& spare() noexcept { return spare_; } // See spare_state.hpp.
    const spare_state& spare() const noexcept { return spare_; }

    counters counted;
    worker_services services; // Own thread.
    worker_policies policies; // Own thread.
    watchdog_note note;       // The watchdog's.

    // Own thread; see share_policy.hpp.
    bool is_message_bound() noexcept {
        return policies.sharing.is_message_bound(counted.tasks_run());
    }
    // Own thread. True if this worker gathers the tasks that communicate; see consolidation.hpp.
    bool is_host() const noexcept;
    // Own thread. Gives up the claim, if this worker has one. Must precede each parking.
    void stop_consolidating() noexcept;

private:
    friend class snapshot;
    void switch_away(context& next, bool (*after)(void*, waiter&) noexcept, void* argument,
                     waiter& who) noexcept;
    context& prepare_suspend(waiter& who, context& next) noexcept; // Prepares the calling context.
    void note_suspend(context& self, context& next) noexcept;
    void wake_slowly(resumable& parked) noexcept;
    template <bool traced>
    bool exchange(context& self) noexcept;
    void run_post_switch(context& left) noexcept;
    static void thread_main(void* self) noexcept;
    struct guest_visit;
    void enter_as_guest(guest_visit& visit, context& first) noexcept;
    void leave_as_guest() noexcept; // From the loop. The loop's context becomes idle.
    void begin_on(sys::worker_tls& tls, context& first, bool alone) noexcept;
    // True if no other worker exists. Requires the spares' mutex: a spare worker begins under it.
    bool runs_alone() const noexcept;
    void run_forks_of(const fork_slot& child) noexcept;
    void set_fork_end(fork_slot* end) noexcept;
    // Require that `from` is the running context. `switch_now` records no trace event.
    void switch_to(context& from, context& target) noexcept;
    void switch_now(context& from, context& target) noexcept;
    void switch_traced(context& target) noexcept;
    void finish() noexcept; // Returns to the thread's own stack; the loop's context becomes idle.

    // Runs one task for the loop. Returns false when the worker has to end.
    bool run_one() noexcept;
    bool run_next_task() noexcept;
    bool poll_global_sources() noexcept;
    bool expire_timers() noexcept;
    bool run_timers() noexcept;
    bool run_events() noexcept;
    bool deliver_events() noexcept;
    [[gnu::noinline]] void post_by_policy(runnable& item) noexcept;
    bool prefer_local(const runnable& item) noexcept;
    // Takes a task that another thread made ready for this worker or for any worker.
    runnable* pop_global(shared_queue::new_work when) noexcept;
    bool run_alternating() noexcept;
    [[gnu::noinline]] bool check_clock_beside_children() noexcept;
    void requeue(resumable& self) noexcept;
    bool share_half() noexcept;
    void consolidate() noexcept; // Part of the global poll; consolidate.cpp.
    std::uint64_t crossings() const noexcept;
    void watch_crossings() noexcept;
    void continue_consolidation() noexcept;
    std::uint32_t gather() noexcept;
    context* next_ready_context() noexcept;
    context* next_or_idle_context() noexcept;
    void count_loop_run() noexcept {
        counted.tasks_picked.add();
        counted.loop_runs.add();
    }
    // True if the next pick is a global poll, which looks at outside work before the own queue.
    bool global_poll_due() const noexcept { return poll_.due(counted.tasks_picked.read()); }
    // True if other work may precede the oldest ready runnable.
    bool loop_decides() const noexcept {
        return global_poll_due() || share_requested() || next_up_.first || next_up_.parent;
    }
    void publish_rest(context& owner) noexcept;
    void publish_eagerly(sys::worker_tls& tls) noexcept;
    void run(runnable& item) noexcept;

    context* idle_context() noexcept; // An idle context to switch to.

    // Constant while the thread runs.
    runtime_core& runtime_;
    const unsigned index_;
    placement_rules rules_;
    worker_thread thread_;

    // Own thread.
    global_poll_schedule poll_;
    post_switch post_switch_;
    struct {
        runnable* first = nullptr; // A runnable that precedes all other work.
        context* parent = nullptr; // The parent whose last child just finished on this worker.
    } next_up_;
    // True while a task that is pushed alone is run next, by this worker.
    bool next_push_runs_here_ = false;
    std::uint32_t eager_pushes_ = 0; // Pushes left that publish without a request.

    guest_visit* guest_ = nullptr; // Null: the worker runs on its own thread.

    // Shared with other threads; each says how.
    run_queue queue_;
    // Tasks that only this worker may run and other threads made ready.
    shared_queue pinned_queue_;
    idle_search idle_;
    worker_loan loan_;
    spare_state spare_;
};

// Returns the worker of the calling thread, or null if the thread is no worker. Never keep the
// result over a call that may suspend.
inline worker* this_worker() noexcept {
    return static_cast<worker*>(sys::tls_worker());
}

} // namespace sennit::sched
