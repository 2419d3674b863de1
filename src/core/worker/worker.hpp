// SPDX-License-Identifier: Apache-2.0
// A worker: one OS thread that runs contexts.
//
// Which threads run this: the worker's own thread, except where a member says "any thread" or
// "thief". Contexts move between workers; code that may have suspended asks `this_worker()` again.
#pragma once

#include "actors/runtime/mailbox_table.hpp"
#include "core/idle/idle_map.hpp"
#include "core/idle/parker.hpp"
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

    // Starts the thread. Throws std::system_error, std::bad_alloc; the worker may then be
    // destroyed.
    void start();
    void join();
    sys::thread& thread() noexcept { return thread_; }
    void disown_thread() noexcept; // in a child of fork(), where the thread does not exist
    std::size_t cached_context_count() const noexcept {
        return cached_context_count_.load_rlx();
    } // a metric: orders nothing

    // The worker loop; runs on every idle context, returns on none.
    [[noreturn]] static void loop() noexcept;
    // What the context that was left asked to be done once it was saved. First call on a stack
    // after each switch.
    static void on_switched_in() noexcept;

    // Own thread: makes `item` ready here, and wakes somebody if there is need.
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
    // The same if `wanted()`, called inside the own queue's lock, says so. True: it was put in.
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
    // A thief asks for work. Own thread.
    bool steal_requested() const noexcept {
        return sys::tls_steal_requested(); // a request, and asked again
    }
    // Whoever asks gets the older half; of a single piece there is none, and the request stands.
    bool share_requested() const noexcept { return steal_requested() && queue_.size() > 1; }
    // What has to follow each push into the own queue, which holds so many then.
    void posted(std::uint32_t queued) noexcept {
        base::compiler_barrier(); // `store size; load idle map`: the processor's half is the
                                  // sleeper's barrier
        if (sleepers_->any(worker_count_) || (queued > 1 && steal_requested())) [[unlikely]]
            posted_slowly(queued);
    }
    void posted_slowly(std::uint32_t queued) noexcept;
    // A handler is about to leave its context, or this worker to forget it: what it sent last goes
    // where all can see it, and the hand is closed. src/actors/runtime/mailbox.cpp.
    [[gnu::noinline, gnu::cold]] void flush_lifo_slot() noexcept;
    // The same for one that is about to block: it shall go on where its turn's mailbox is.
    [[gnu::noinline, gnu::cold]] void flush_lifo_slot_before_block() noexcept;
    // Whether somebody has to be woken for a piece of work that is the only one here, if nobody
    // watches.
    bool somebody_sleeps() const noexcept {
        base::compiler_barrier(); // as in posted
        return sleepers_->any(worker_count_);
    }
    // Own thread: makes a blocked context of this runtime ready.
    void wake_here(context& parked) noexcept;
    // Lets what is ready here run first.
    void yield() noexcept;
    [[gnu::noinline]] void yield_slowly() noexcept;
    // Runs `item` at once, and makes the caller ready. False, without having done so, when there is
    // no other stack.
    bool run_instead(runnable& item) noexcept;

    // Whether what has this home goes through the own queue.
    bool is_local(const runnable& item) const noexcept { return item.affinity == local_affinity_; }
    std::uint16_t affinity() const noexcept { return static_cast<std::uint16_t>(index_ + 1); }
    // From the loop: runs `item` on this idle context.
    void run_on(context& target, runnable& item) noexcept;

    // From the loop: switch to a saved context; the loop's own context becomes idle.
    void resume(context& target) noexcept;
    // From user code on `self`: leave it for an idle context. False when there is none to be had.
    bool suspend_current(bool (*after)(void*, waiter&) noexcept, void* argument,
                         waiter& who) noexcept;
    // To a blocked context that has to be made ready. False: others would run before it, or
    // elsewhere, or nobody may.
    bool switch_directly_to(context& next, waiter& who) noexcept;
    // The same where all there is to be done is to free a lock.
    bool suspend_and_unlock(base::spin_lock& held, waiter& who) noexcept;

    // From fork_stack.cpp: publication and stealing.
    void publish_on_request() noexcept;
    void publish_all(context& owner) noexcept {
        // Nothing forked is nearly always the case: `head` is where it began, and what was public
        // was taken back.
        if (sys::tls_head() != owner.fork_base()) [[unlikely]]
            publish_rest(owner);
    }
    bool take_back(fork_slot* slot) noexcept;

    // Any thread.
    context* running() const noexcept {
        sys::worker_tls* tls = tls_.load_acq(); // pairs with thread_main
        return tls ? static_cast<context*>(tls->context.load_acq())
                   : nullptr; // pairs with switch_to
    }
    // Another number than before when a piece of work, or of mail, has come to its end here. A
    // hint.
    std::uint64_t progress_counter() const noexcept;
    run_queue& queue() noexcept { return queue_; }
    shared_queue& pinned_queue() noexcept { return pinned_queue_; }
    sched::parker& parker() noexcept { return parker_; }
    void request_share() noexcept {
        // acquire pairs with thread_main's store
        if (sys::worker_tls* tls = tls_.load_acq(); tls && tls->steal_requested.load() == 0)
            tls->steal_requested.store(1); // pairs with thread_main
    }

    // True about once in `n` calls in stress builds, never elsewhere; then the thread has also
    // yielded its processor once in a while.
    bool stress_one_in(unsigned n) noexcept;

    // About now: when this worker last looked at the clock, every some picks and when it wakes. Own
    // thread.
    std::int64_t cached_now_ns() const noexcept { return cached_now_ns_; }
    // A fiber is about to run a child on its own stack, which is no pick. True: the next fair turn
    // is due instead, since so many children have run that way and a tick has passed; the fiber
    // then leaves its context to wait. Own thread.
    bool global_poll_due_beside_children() noexcept {
        return counted.inline_runs.read() >= next_check_beside_children_ &&
               check_clock_beside_children();
    }
    // Any thread: the next pick of this worker is a fair turn. A hint, which the worker may
    // overwrite: the watchdog asks again at its next look.
    void request_global_poll() noexcept { next_global_poll_.store_rlx(0); } // orders nothing
    // Own thread, between two messages.
    bool global_poll_requested() const noexcept {
        return next_global_poll_.load_rlx() == 0;
    } // orders nothing
    // Own thread: how many mailboxes may have a turn in one pick, and how many messages they may
    // handle in one turn. Fewer than usual where fair turns would be far apart.
    unsigned batches_per_pick() const noexcept { return global_poll_interval_; }
    unsigned max_messages_per_batch() const noexcept { return max_messages_per_batch_; }

    std::uint32_t random_below(std::uint32_t n) noexcept { return random_.below(n); } // own thread

    runtime_core& runtime() noexcept { return runtime_; }
    context& self() noexcept {
        return *static_cast<context*>(sys::tls_context());
    } // own thread: which runs here
    unsigned index() const noexcept { return index_; }

    // One that the watchdog calls where others do not get on, and sends back:
    // src/core/spare/spare_worker.cpp.
    bool is_spare() const noexcept { return kind_ == kind::spare; }
    // Any thread: whether it is one that stays, with or without the watchdog.
    bool is_retained() const noexcept { return retained_.load() != 0; }
    // Any thread. Told to leave: the relief works until the piece of work that it is in ends, and
    // until it sees it.
    bool deactivation_requested() const noexcept {
        return is_spare() && spare_state_.load() != spare_state::active;
    }
    // Any thread. The relief has given away what lay in its queue, and sleeps until it is called
    // again.
    bool is_inactive() const noexcept {
        const std::uint32_t now = spare_state_.load();
        return is_spare() && (now == spare_state::inactive || now == spare_state::notified);
    }
    // Any thread: an inactive relief looks into its inbox, where something lies that only it may
    // run.
    void notify_inactive() noexcept;
    counters counted;
    std::uint64_t next_id = 0;              // own thread; see fresh_id
    slab_cache memory;                      // own thread
    mailbox_cache mailboxes;                // own thread
    coroutine_stack_cache coroutine_stacks; // own thread

    sys::thread_suspender suspender;
    bool is_message_bound() noexcept {
        return share_policy_.is_message_bound(counted.tasks_run());
    } // own thread; see share_policy.hpp
    void note_contention(const void* place,
                         std::uint64_t values) noexcept; // own thread; see contention_monitor.hpp
    message_cost_sampler& message_costs() noexcept { return message_costs_; } // own thread
    prefetch_links& remote_prefetch_links() noexcept {
        return remote_prefetch_links_;
    }                                                     // own thread
    flood_detector& floods() noexcept { return floods_; } // own thread

private:
    friend class snapshot;
    friend class deadlock_detector;
    friend class watchdog;
    friend class runtime_core;
    void switch_away(context& next, bool (*after)(void*, waiter&) noexcept, void* argument,
                     waiter& who) noexcept;
    context& prepare_suspend(waiter& who, context& next) noexcept; // the calling one
    void note_suspend(context& self, context& next) noexcept;
    void wake_slowly(context& parked) noexcept;
    template <bool traced>
    bool exchange(context& self) noexcept;
    void run_post_switch(context& left) noexcept;
    static void thread_main(void* self) noexcept;
    // `from` runs here. `switch_now` tells no trace.
    void switch_to(context& from, context& target) noexcept;
    void switch_now(context& from, context& target) noexcept;
    void switch_traced(context& target) noexcept;
    void finish() noexcept; // back to the thread's own stack; the loop's context becomes idle

    // One piece of work for the loop; false when the worker shall end.
    bool run_one() noexcept;
    bool run_next_task() noexcept;
    bool poll_global_sources() noexcept;
    bool expire_timers() noexcept;
    bool run_timers() noexcept;
    void help_others() noexcept;
    [[gnu::noinline]] void post_by_policy(runnable& item) noexcept;
    bool prefer_local(const runnable& item) noexcept;
    // What others made ready for this worker or for any.
    bool global_sources_empty() const noexcept;
    runnable* pop_global(shared_queue::new_work when) noexcept;
    void begin_global_poll() noexcept;
    bool run_alternating() noexcept;
    [[gnu::noinline]] bool check_clock_beside_children() noexcept;
    bool ticked(std::int64_t& last_ns) const noexcept;
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
    // The next pick looks at what others have before the own queue.
    bool global_poll_due() const noexcept {
        return counted.tasks_picked.read() >= next_global_poll_.load_rlx();
    } // orders nothing
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
    bool sleep_for_good() noexcept; // as parker::sleep_until(never);
                                    // src/core/diagnostics/deadlock_detector.cpp
    bool search(bool& lone_tasks) noexcept;
    bool work_in_sight() noexcept;
    enum class sight { nothing, lone_tasks, work };
    enum class last_look { just_now, a_moment_ago, a_while_ago, long_ago };
    sight look_at_queues(last_look when) noexcept;
    void cancel_park(bool is_sentinel) noexcept;
    void request_share_from_all() noexcept;

    context* idle_context() noexcept; // to leave for
    void cache_context(context& idle) noexcept;

    runtime_core& runtime_;
    const unsigned index_;
    const kind kind_;
    bool last_was_pinned_ = false;      // the last one from outside was of the inbox
    bool last_poll_ran_global_ = false; // the last fair turn took one from outside
    unsigned worker_count_ = 0;         // reliefs included; set before the thread starts
    // The home of what goes through the own queue: none under `stealing`, this worker under
    // `round_robin`, and one that nothing has under `sharing`.
    std::uint16_t local_affinity_ = 0;
    bool steals_ = true; // the runtime's; set with local_affinity_ before the thread starts
    // Nothing is to be noted when a context is left: the policy moves contexts, and nobody traces.
    bool fast_suspend_ = true;
    // `local_affinity_`; while somebody traces one that nothing has, so that the quick ways past
    // the trace are not taken.
    std::uint16_t fast_path_affinity_ = 0;
    bool next_push_runs_here_ = false; // what is pushed now and alone is run next, by this worker
    idle_map* sleepers_ = nullptr;     // the runtime's
    base::atomic<sys::worker_tls*> tls_{
        nullptr}; // set once by the thread; valid until all workers have ended
    sys::exception_globals* exceptions_ = nullptr;
    context* context_cache_ = nullptr;
    base::atomic<std::size_t> cached_context_count_{0}; // owner writes
    unsigned global_poll_interval_ =
        tuning::global_poll_interval; // picks from one fair turn to the next
    unsigned max_messages_per_batch_ = tuning::messages_per_batch;
    // As many runnables: the next pick is fair. The owner's; 0, by the watchdog, asks for it at
    // once.
    base::atomic<std::uint64_t> next_global_poll_{tuning::global_poll_interval - 1};
    std::uint64_t next_check_beside_children_ =
        0; // as many runnables run aside: the next child looks at the clock
    bool poll_own_queue_first_ = false; // the next fair turn looks into the own queue first
    std::int64_t cached_now_ns_ = 0;
    std::int64_t helped_ns_ = 0; // when it last looked at the others while it had work
    std::int64_t began_oldest_spawned_ns_ =
        0;                             // when a fair turn last began the oldest new work here
    std::int64_t began_shared_ns_ = 0; // the same of what was given away
    base::atomic<std::uint32_t> park_epoch_{0};    // odd: sleeps until woken; the owner writes
    base::atomic<sys::os_thread_id> os_thread_{0}; // the thread's number; set once by the thread
    base::random random_;
    sys::machine_context thread_context_; // the thread's own stack

    // Set by whoever switches, taken by whoever arrives.
    post_switch_action post_switch_action_;
    bool (*post_switch_fn_)(void*,
                            waiter&) noexcept = nullptr; // with the next two: what `left` asks for
    void* post_switch_arg_ = nullptr;
    waiter* post_switch_waiter_ = nullptr;
    runnable* run_first_ = nullptr;  // before all else
    context* resume_next_ = nullptr; // the parent whose last child just finished here

    run_queue queue_;
    shared_queue pinned_queue_; // what only this worker may run and others made ready
    std::unique_ptr<progress_tracker[]> progress_trackers_; // of each worker
    sched::parker parker_;
    // Of a relief; every change is argued in src/core/spare/spare_worker.cpp.
    struct spare_state {
        static constexpr std::uint32_t leaving = 0;  // told to leave, still a worker in everything
        static constexpr std::uint32_t active = 1;   // works
        static constexpr std::uint32_t inactive = 2; // sleeps with an empty queue
        static constexpr std::uint32_t notified =
            3; // inactive, and something that only it may run was posted to it
    };
    base::atomic<std::uint32_t> spare_state_{spare_state::active};
    base::atomic<std::uint32_t> retained_{
        0}; // a relief's: `resize` has called it; under the same lock
    struct {
        std::uint64_t progress = 0;
        std::int64_t cpu_time_ns = 0; // the thread's time when it got on last
        bool awake = false;           // at the last look
    } noted_;                         // the watchdog's
    sys::thread thread_;
    share_policy share_policy_;            // whether the queue is worth sharing
    message_cost_sampler message_costs_;   // how long mail takes here
    prefetch_links remote_prefetch_links_; // what went to other workers' mailboxes
    flood_detector floods_;                // how much of it to one that has not got to it
    contention_monitor contention_;        // how often somebody was inside what was wanted here
};

// The worker of the calling thread, null if it is none. Never hold it over anything that may
// suspend.
inline worker* this_worker() noexcept {
    return static_cast<worker*>(sys::tls_worker());
}

} // namespace sennit::sched
