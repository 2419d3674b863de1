// SPDX-License-Identifier: Apache-2.0
// A worker: one OS thread that runs contexts.
//
// Which threads run this: the worker's own thread, except where a member says "any thread" or
// "thief". Contexts move between workers, so code that may have suspended calls `this_worker()`
// again.
#pragma once

#include "actors/runtime/mailbox_table.hpp"
#include "core/idle/idle_map.hpp"
#include "core/idle/parker.hpp"
#include "core/memory/context_cache.hpp"
#include "core/memory/slab_cache.hpp"
#include "core/policy/contention_monitor.hpp"
#include "core/policy/flood_detector.hpp"
#include "core/policy/message_cost_sampler.hpp"
#include "core/policy/prefetch_links.hpp"
#include "core/policy/progress_tracker.hpp"
#include "core/policy/share_policy.hpp"
#include "core/policy/tuning.hpp"
#include "core/queues/run_queue.hpp"
#include "core/queues/shared_queue.hpp"
#include "core/switch/context.hpp"
#include "core/switch/post_switch.hpp"
#include "core/worker/counters.hpp"
#include "core/worker/global_poll.hpp"
#include "sennit/detail/base/random.hpp"
#include "sennit/detail/core/coroutine_stack.hpp"
#include "sennit/detail/core/verbs.hpp"
#include "sennit/detail/sys/worker_tls.hpp"
#include "sys/kernel_threads.hpp"
#include "sys/thread.hpp"
#include "sys/thread_suspender.hpp"

#include <cstdint>
#include <memory>

namespace sennit::sched {

class runtime_core;

class alignas(base::destructive_distance) worker {
public:
    enum class kind { regular, spare };
    worker(runtime_core& runtime, unsigned index, kind as);
    ~worker();

    // Starts the thread. Throws std::system_error or std::bad_alloc; the worker may then be
    // destroyed.
    void start();
    void join();
    sys::thread& thread() noexcept { return thread_; }
    void disown_thread() noexcept; // In a child of fork(), where the thread does not exist.
    // Any thread: a metric.
    std::size_t cached_context_count() const noexcept { return contexts_.size(); }

    // The worker loop. It runs on every idle context and returns on none.
    [[noreturn]] static void loop() noexcept;
    // Runs the post-switch action of the outgoing context, once that context has been saved. This
    // must be the first call on a stack after each switch.
    static void on_switched_in() noexcept;

    // Own thread. Makes `item` ready on this worker, and wakes a parked worker if one is needed.
    void post_woken(runnable& item) noexcept {
        if (item.affinity != local_affinity_) [[unlikely]]
            return post_by_policy(item);
        posted(queue_.push_woken(item));
    }
    void post_spawned(runnable& item) noexcept {
        if (item.affinity != local_affinity_) [[unlikely]]
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
    bool post_spawned_if(runnable& item, F&& wanted) noexcept {
        return post_if(item, wanted,
                       [this](runnable& one, F& why) { return queue_.push_spawned_if(one, why); });
    }
    template <class F, class Push>
    [[gnu::always_inline]] bool post_if(runnable& item, F& wanted, Push&& push) noexcept {
        if (item.affinity != local_affinity_) [[unlikely]] {
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
        if (sleepers_->any(worker_count_) || (queued > 1 && steal_requested())) [[unlikely]]
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
        return sleepers_->any(worker_count_);
    }
    // Own thread. Makes a blocked context of this runtime ready.
    void wake_here(context& parked) noexcept;
    // Lets the ready tasks of this worker run first.
    void yield() noexcept;
    [[gnu::noinline]] void yield_slowly() noexcept;
    // Runs `item` immediately, and makes the calling context ready. Returns false, without any
    // effect, if there is no other stack.
    bool run_instead(runnable& item) noexcept;

    // True if a runnable with this affinity goes through the run queue.
    bool is_local(const runnable& item) const noexcept { return item.affinity == local_affinity_; }
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

    // Publication and stealing of forks; implemented in fork_stack.cpp.
    void publish_on_request() noexcept;
    void publish_all(context& owner) noexcept {
        // Usually nothing is forked: `head` is at its start, and the public slots were taken back.
        if (sys::tls_head() != owner.fork_base()) [[unlikely]]
            publish_rest(owner);
    }
    bool take_back(fork_slot* slot) noexcept;

    // Any thread.
    context* running() const noexcept {
        // pairs with thread_main
        sys::worker_tls* tls = tls_.load_acq();
        // pairs with switch_to
        return tls ? static_cast<context*>(tls->context.load_acq()) : nullptr;
    }
    // Any thread. A counter that changes when a task or a message has ended on this worker. A hint.
    std::uint64_t progress_counter() const noexcept;
    run_queue& queue() noexcept { return queue_; }
    shared_queue& pinned_queue() noexcept { return pinned_queue_; }
    sched::parker& parker() noexcept { return parker_; }
    void request_share() noexcept {
        // acquire pairs with thread_main's store
        if (sys::worker_tls* tls = tls_.load_acq(); tls && tls->steal_requested.load() == 0)
            tls->steal_requested.store(1); // pairs with thread_main
    }

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

    std::uint32_t random_below(std::uint32_t n) noexcept { return random_.below(n); } // Own thread.

    runtime_core& runtime() noexcept { return runtime_; }
    // Own thread: the context that runs here.
    context& self() noexcept { return *static_cast<context*>(sys::tls_context()); }
    unsigned index() const noexcept { return index_; }

    // True for a spare worker: the watchdog activates one where workers make no progress, and
    // releases it later. See src/core/spare/spare_worker.cpp.
    bool is_spare() const noexcept { return kind_ == kind::spare; }
    // Any thread. True if `resize` has retained this spare worker, so the watchdog must not release
    // it.
    bool is_retained() const noexcept { return retained_.load() != 0; }
    // Any thread. True if the spare worker was told to leave. It works until its current task ends
    // and it reads the order.
    bool deactivation_requested() const noexcept {
        return is_spare() && spare_state_.load() != spare_state::active;
    }
    // Any thread. True if the spare worker has emptied its queue and sleeps until it is activated
    // again.
    bool is_inactive() const noexcept {
        const std::uint32_t now = spare_state_.load();
        return is_spare() && (now == spare_state::inactive || now == spare_state::notified);
    }
    // Any thread. Makes an inactive spare worker look into its pinned queue, which holds a task
    // that only this worker may run.
    void notify_inactive() noexcept;
    counters counted;
    std::uint64_t next_id = 0;              // Own thread; see `fresh_id`.
    slab_cache memory;                      // Own thread.
    mailbox_cache mailboxes;                // Own thread.
    coroutine_stack_cache coroutine_stacks; // Own thread.

    sys::thread_suspender suspender;
    // Own thread; see share_policy.hpp.
    bool is_message_bound() noexcept { return share_policy_.is_message_bound(counted.tasks_run()); }
    void note_contention(const void* place,
                         std::uint64_t values) noexcept; // Own thread; see contention_monitor.hpp.
    message_cost_sampler& message_costs() noexcept { return message_costs_; } // Own thread.
    prefetch_links& remote_prefetch_links() noexcept {
        return remote_prefetch_links_;
    } // Own thread.
    flood_detector& floods() noexcept { return floods_; } // Own thread.

private:
    friend class snapshot;
    friend class deadlock_detector;
    friend class watchdog;
    friend class runtime_core;
    void switch_away(context& next, bool (*after)(void*, waiter&) noexcept, void* argument,
                     waiter& who) noexcept;
    context& prepare_suspend(waiter& who, context& next) noexcept; // Prepares the calling context.
    void note_suspend(context& self, context& next) noexcept;
    void wake_slowly(context& parked) noexcept;
    template <bool traced>
    bool exchange(context& self) noexcept;
    void run_post_switch(context& left) noexcept;
    static void thread_main(void* self) noexcept;
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
    void help_others() noexcept;
    [[gnu::noinline]] void post_by_policy(runnable& item) noexcept;
    bool prefer_local(const runnable& item) noexcept;
    // Access to the tasks that other threads made ready for this worker or for any worker.
    bool global_sources_empty() const noexcept;
    runnable* pop_global(shared_queue::new_work when) noexcept;
    bool run_alternating() noexcept;
    [[gnu::noinline]] bool check_clock_beside_children() noexcept;
    context* find_stealable_context() noexcept;
    void requeue(context& self) noexcept;
    bool share_half() noexcept;
    void announce_stolen(std::uint32_t queued) noexcept;
    context* next_ready_context() noexcept;
    context* next_or_idle_context() noexcept;
    void count_loop_run() noexcept {
        counted.tasks_picked.add();
        counted.loop_runs.add();
    }
    // True if the next pick is a global poll, which looks at outside work before the own queue.
    bool global_poll_due() const noexcept { return poll_.due(counted.tasks_picked.read()); }
    bool steal_fork_from(context& victim) noexcept;
    bool steal_fork() noexcept;
    bool steal_fork_from_suspended() noexcept;
    void publish_rest(context& owner) noexcept;
    bool steal_tasks(worker& victim) noexcept;
    bool steal_from_pinned(worker& victim, bool even_stale) noexcept;
    bool force_publication(worker& victim) noexcept;
    bool force_somebody() noexcept;
    void run_stolen(fork_slot& slot) noexcept;
    void run(runnable& item) noexcept;

    bool park_or_find_work() noexcept;
    bool deactivate() noexcept;
    bool sleep_for_good() noexcept; // Like parker::sleep_until(never);
                                    // src/core/diagnostics/deadlock_detector.cpp.
    bool search(bool& lone_tasks) noexcept;
    bool work_in_sight() noexcept;
    enum class sight { nothing, lone_tasks, work };
    enum class last_look { just_now, a_moment_ago, a_while_ago, long_ago };
    sight look_at_queues(last_look when) noexcept;
    void cancel_park(bool is_sentinel) noexcept;
    void request_share_from_all() noexcept;

    context* idle_context() noexcept; // An idle context to switch to.

    runtime_core& runtime_;
    const unsigned index_;
    const kind kind_;
    bool last_was_pinned_ = false; // True if the last task from outside came from the pinned queue.
    unsigned worker_count_ = 0;    // Includes spare workers; set before the thread starts.
    // The affinity of the runnables that go through the own queue: none (0) under `stealing`, this
    // worker under `round_robin`, and a value that no runnable has under `sharing`.
    std::uint16_t local_affinity_ = 0;
    bool steals_ =
        true; // The runtime's setting; set with `local_affinity_` before the thread starts.
    // True if suspending needs no bookkeeping: the policy lets contexts migrate and tracing is off.
    bool fast_suspend_ = true;
    // Equals `local_affinity_`, or a value that no runnable has while tracing is on. The fast
    // paths, which record no trace events, are then not taken.
    std::uint16_t fast_path_affinity_ = 0;
    // True while a task that is pushed alone is run next, by this worker.
    bool next_push_runs_here_ = false;
    idle_map* sleepers_ = nullptr; // The runtime's idle map.
    // Set once by the thread; valid until all workers have ended.
    base::atomic<sys::worker_tls*> tls_{nullptr};
    sys::exception_globals* exceptions_ = nullptr;
    context_cache contexts_;
    global_poll_schedule poll_;
    // Odd while the worker is parked without a deadline; written by the owner.
    base::atomic<std::uint32_t> park_epoch_{0};
    base::atomic<sys::os_thread_id> os_thread_{
        0}; // The thread's kernel id; set once by the thread.
    base::random random_;
    sys::machine_context thread_context_; // The machine context of the thread's own stack.

    post_switch post_switch_;
    runnable* run_first_ = nullptr;  // A runnable that precedes all other work.
    context* resume_next_ = nullptr; // The parent whose last child just finished on this worker.

    run_queue queue_;
    // Tasks that only this worker may run and other threads made ready.
    shared_queue pinned_queue_;
    std::unique_ptr<progress_tracker[]> progress_trackers_; // One progress tracker for each worker.
    sched::parker parker_;
    // States of a spare worker. src/core/spare/spare_worker.cpp argues every transition.
    struct spare_state {
        // Told to leave; still a worker in every respect.
        static constexpr std::uint32_t leaving = 0;
        static constexpr std::uint32_t active = 1;   // Works.
        static constexpr std::uint32_t inactive = 2; // Sleeps with an empty queue.
        // Inactive, and a task that only this worker may run was posted to it.
        static constexpr std::uint32_t notified = 3;
    };
    base::atomic<std::uint32_t> spare_state_{spare_state::active};
    // A spare worker's: nonzero while `resize` retains it; guarded by the registry's lock.
    base::atomic<std::uint32_t> retained_{0};
    struct {
        std::uint64_t progress = 0;
        std::int64_t cpu_time_ns = 0; // The thread's processor time at its last progress.
        bool awake = false;           // True if the worker was awake at the last look.
    } noted_;                         // The watchdog's notes.
    sys::thread thread_;
    share_policy share_policy_;            // Decides whether the queue is worth sharing.
    message_cost_sampler message_costs_;   // Samples the cost of messages here.
    prefetch_links remote_prefetch_links_; // The messages sent to mailboxes of other workers.
    flood_detector floods_;                // Detects a receiver that falls behind those messages.
    // Counts how often another worker was inside an object that this worker wanted.
    contention_monitor contention_;
};

// Returns the worker of the calling thread, or null if the thread is no worker. Never keep the
// result over a call that may suspend.
inline worker* this_worker() noexcept {
    return static_cast<worker*>(sys::tls_worker());
}

} // namespace sennit::sched
