// SPDX-License-Identifier: Apache-2.0
// The core of a runtime: its workers, its contexts, their shared state, and its construction and
// destruction.
//
// Construction. The constructor requests everything that the system can refuse (memory, threads).
// If a request is refused, the constructor ends the parts that were started, and throws the
// refusal. Destruction. `stop` is set, all parked workers are woken, and each worker ends when it
// finds no work; then the threads are joined.
#pragma once

#include "blocking/blocking_pool.hpp"
#include "core/idle/event_source.hpp"
#include "core/idle/idle_map.hpp"
#include "core/idle/timers.hpp"
#include "core/memory/context_pool.hpp"
#include "core/queues/shared_queue.hpp"
#include "core/runtime/worker_domains.hpp"
#include "core/worker/consolidation.hpp"
#include "core/worker/model_hooks.hpp"
#include "core/worker/worker.hpp"
#include "sennit/runtime_options.hpp"
#include "sys/mutex.hpp"

#include <memory>
#include <vector>

namespace sennit::sched {

class runtime_core {
public:
    explicit runtime_core(const runtime_options& options);
    ~runtime_core();

    unsigned worker_count() const noexcept { return options_.workers; }
    sys::mutex& spares_mutex() noexcept { return spares_mutex_; }
    // The number of regular workers and of the spare workers that exist so far:
    // src/core/spare/spare_worker.cpp.
    unsigned worker_count_with_spares() const noexcept {
        return worker_capacity() == worker_count() ? worker_count()
                                                   : worker_count_with_spares_.load();
    }
    unsigned worker_capacity() const noexcept { return static_cast<unsigned>(workers_.size()); }
    // `index` is below worker_count_with_spares().
    worker& worker_at(unsigned index) noexcept { return *workers_[index]; }

    // The number of active workers: regular workers, and the spare workers that `resize` retains.
    // Orders nothing: a number.
    unsigned active_worker_count() const noexcept {
        return worker_count() + retained_spare_count_.load_rlx();
    }
    // Activates spare workers for good, or releases such: documented at runtime::resize.
    void resize(unsigned workers);

    // Runs `task` on the calling thread, in the place of a parked worker, until the task ends or
    // first has to wait; a worker then continues it. Returns false, without any effect on the task,
    // if the caller is not the main thread or is on a worker, or if no worker can be borrowed.
    // src/core/worker/guest_thread.cpp.
    bool run_as_guest(runnable& task) noexcept;

    // For the watchdog. Returns false if no spare worker is available; `refused` says that the
    // system had no thread or no memory.
    bool activate_spare(bool& refused) noexcept;
    void release_spare(worker& spare) noexcept;
    context_pool& contexts() noexcept { return contexts_; }
    // The floating-point control words of a task that has not changed them: those of the thread
    // that made the runtime.
    std::uint64_t fp_control() const noexcept { return fp_control_; }
    shared_queue& injector() noexcept { return injector_; }
    idle_map& idle() noexcept { return idle_; }
    const worker_domains& domains() const noexcept { return domains_; }
    sched::timers& timers() noexcept { return timers_; }
    model_state& model() noexcept { return *model_; } // The state of the models.
    // Any thread. The source of events from outside; null while no object is registered with it.
    event_source* active_events() const noexcept {
        event_source* const source = events_.load(); // Written once.
        return source && source->active() ? source : nullptr;
    }
    // Any thread. The source, whether it is in use or not; null: none was made.
    event_source* events() const noexcept { return events_.load(); }
    // Any thread. The source that `make` returns at the first call. `make` may throw.
    event_source& need_events(std::unique_ptr<event_source> (*make)(runtime_core&));
    // Any thread, after an object was registered with the source and none was before. Makes sure
    // that a parked worker waits for its events.
    void first_event_registered() noexcept;
    // Any thread. True if events may come and no parked worker waits for them, or will soon.
    bool events_need_poller() const noexcept {
        const event_source* const source = active_events();
        return source && !source->has_poller() && !has_sentinel();
    }
    blocking_pool& blocking_calls() noexcept { return blocking_; }

    // Any thread. Puts `what` into the injector, or into the pinned queue of the worker that alone
    // may run it. The posted work may run, and cause the destruction of this runtime, before the
    // post is complete: the destructor waits for threads that are none of its workers.
    void post(runnable& what) noexcept;

    scheduling policy() const noexcept { return options_.policy; }
    // True if workers take work from each other.
    bool steals() const noexcept { return policy() != scheduling::round_robin; }
    std::size_t stack_size() const noexcept { return options_.stack_size; }
    // Checks the number of a worker and returns it as a runnable's affinity. Throws
    // std::invalid_argument.
    std::uint16_t affinity_to(unsigned worker) const;
    // Returns the affinity of the next worker in turn.
    std::uint16_t next_affinity() noexcept;

    // The consolidation of this runtime; any thread, as the class says.
    sched::consolidation& consolidation() noexcept { return consolidation_; }
    // Any thread. The sum of counters::work_items.
    std::uint64_t work_items() const noexcept;

    // Wakes one parked worker, if any is parked, unless a worker searches for work. Call this after
    // the work is visible. Costs one load if no worker is parked.
    void wake_one() noexcept {
        if (!idle_.any(worker_capacity()) || (steals() && leave_to_searcher())) return;
        wake_searcher();
    }
    // Wakes one parked worker likewise, for work that a searcher may not see without a barrier.
    void wake_one_unproven() noexcept {
        if (!idle_.any(worker_capacity())) return;
        set_unproven();
        wake_one();
    }
    // Wakes one parked worker, if any, whether a worker searches or not. The worker begins as a
    // searcher.
    void wake_searcher() noexcept {
        // The worker that waits for events is chosen last: another one would have to replace it.
        const event_source* const source = events();
        const unsigned last = source ? source->poller() : idle_map::none;
        const unsigned chosen =
            domains_.several() ? take_near_parked(last) : idle_.take_any(worker_capacity(), last);
        if (chosen == idle_map::none) return;
        searching_.fetch_add(1);
        worker& woken = worker_at(chosen);
        woken.parker().notify_as_searcher(waker_note_for(woken));
    }

    // Wakes the worker `index`, if it is parked. Returns true if it was.
    bool wake_worker(unsigned index) noexcept {
        if (!idle_.clear(index)) return false;
        worker& woken = worker_at(index);
        woken.parker().notify(waker_note_for(woken));
        return true;
    }

    // True if there is a sentinel: a parked worker that scans the other queues, so that a lone task
    // in one of them needs no wake-up.
    bool has_sentinel() const noexcept { return sentinels_.load() != 0; }
    bool try_become_sentinel() noexcept {
        std::uint32_t none = 0;
        return sentinels_.cas(none, 1);
    }
    void release_sentinel() noexcept { sentinels_.store(0); }

    // The late looker: a parked worker that will look for all parked workers, behind a barrier,
    // before it parks for good. There is at most one. A failing try has read the role of a worker
    // that has not begun that look.
    bool try_become_late_looker() noexcept {
        std::uint32_t none = 0;
        return late_lookers_.cas(none, 1);
    }
    void release_late_look() noexcept { late_lookers_.store(0); }

    // Searchers: the awake workers that are counted as looking for work. src/core/README.md, "Two
    // protocols", says what a poster and a parking worker may leave to a searcher.
    bool has_searcher() const noexcept { return searching_.load() != 0; }
    // Returns true if a worker searches. The caller's earlier writes are visible to that worker
    // once it has ended its search: both are read-modify-write operations.
    bool leave_to_searcher() noexcept { return searching_.fetch_add(0) != 0; }
    // Counts the calling worker as a searcher, and limits spinning: at most half of the workers
    // search at a time. A lone worker is always admitted.
    bool begin_search() noexcept;
    // Counts the calling worker as a searcher without that limit: it has work in sight.
    void rejoin_search() noexcept { searching_.fetch_add(1); }
    // Returns true if the caller was the last searcher.
    bool end_search() noexcept { return searching_.fetch_sub(1) == 1; }
    // Set while work may have been left to the searchers that only a look after a barrier shows.
    bool unproven() const noexcept { return unproven_.load() != 0; }
    void set_unproven() noexcept {
        if (unproven_.load() == 0) unproven_.store(1);
    }
    void clear_unproven() noexcept {
        if (unproven_.load() != 0) unproven_.store(0);
    }

    const runtime_options& options() const noexcept { return options_; }
    // Returns true if each worker has announced that it parks, or is an inactive spare worker. May
    // change at any time. The second function leaves out the worker `index`.
    bool all_parked() const noexcept { return all_parked_but(worker_limit); }
    bool all_parked_but(unsigned index) const noexcept;
    bool has_stealable_contexts() const noexcept { return stealable_count_.load() != 0; }

    bool stopping() const noexcept { return stopping_.load() != 0; }

    // The list of suspended contexts that still have forks to offer, with the worker that they were
    // suspended on. (A context's own `affinity` may change: a worker that is about to leave the
    // context writes it, and so does a worker that continues to run it because there was no stack
    // to leave it for.)
    void register_stealable(context& one, std::uint16_t affinity) noexcept;
    // Called by the worker that resumes `one`. The worker that suspended `one` listed it before any
    // thread could make it ready, so this load sees the entry. Other threads only remove it
    // meanwhile, and then the lock decides.
    static void unregister_stealable(context& one) noexcept {
        if (one.stealable.load_rlx()) [[unlikely]] // A hint: the lock decides.
            unregister_stealable_slow(one);
    }
    // Returns a context with public forks; drops contexts without. `affinity`: only contexts
    // suspended on that worker; 0: any.
    context* find_stealable_context(std::uint16_t affinity) noexcept;

    // For the workers' threads.
    context& first_context(unsigned index) noexcept { return *first_contexts_[index]; }
    void place_worker(unsigned index) noexcept;
    void wait_for_all_workers() noexcept;

    // True in a child of fork(): the workers' threads do not exist there.
    bool lost_in_fork() const noexcept;
    void check_not_lost() const; // Throws std::system_error.

    runtime_metrics metrics() const;

private:
    friend class snapshot;
    friend class watchdog;
    // The note of the calling thread for a worker that it is about to notify.
    static waker_note waker_note_for(worker& woken) noexcept;
    // As idle_map::take_any. Takes the bit of a worker near the calling worker, if one is parked.
    [[gnu::cold]] unsigned take_near_parked(unsigned last) noexcept;
    void post_inside(runnable& what) noexcept;
    void post_pinned(runnable& what) noexcept;
    [[gnu::cold]] static void unregister_stealable_slow(context& one) noexcept;
    void remove_stealable(context& one) noexcept;
    void end_workers(unsigned started) noexcept;
    worker* spare_to_activate(bool for_watchdog);
    void start_or_resume_spare(worker& spare);
    void request_deactivation(worker& spare) noexcept;
    void wake_spares_to_end() noexcept;

    const runtime_options options_;
    const unsigned fork_generation_;
    const worker_domains domains_;
    const std::uint64_t fp_control_ = sys::read_fp_control();
    context_pool contexts_;
    const std::unique_ptr<model_state> model_{hooks::make_runtime_state(*this)};
    std::vector<std::unique_ptr<worker>> workers_; // Null: a spare worker that was never needed.
    std::vector<context*> first_contexts_;
    // Held while a spare worker is activated, and by a dump. Locked before the mutex of the
    // contexts' pool.
    sys::mutex spares_mutex_;
    base::atomic<std::uint32_t> worker_count_with_spares_{0};
    // The number of spare workers that stay until `resize` releases them; guarded by
    // `spares_mutex_`.
    base::atomic<std::uint32_t> retained_spare_count_{0};
    bool enrolled_in_watchdog_ = false; // True if the watchdog watches this runtime.
    struct {
        std::int64_t since_ns = 0; // 0: no work waits for an unavailable thread.
        bool told = false;
    } starvation_; // The watchdog's notes.
    base::atomic<std::uint64_t> spares_activated_{0};
    base::atomic<std::uint64_t> spares_released_{0};
    shared_queue injector_;
    sched::timers timers_;
    sys::mutex events_mutex_; // Held while the source is made.
    base::atomic<event_source*> events_{nullptr};
    std::unique_ptr<event_source> own_events_; // Guarded by `events_mutex_`.
    blocking_pool blocking_;
    idle_map idle_;
    base::atomic<std::uint32_t> stopping_{0};
    // On a line of its own: each poster that sees a parked worker reads it.
    alignas(base::destructive_distance) base::atomic<std::uint32_t> searching_{0};
    base::atomic<std::uint32_t> unproven_{0};
    alignas(base::destructive_distance) base::atomic<std::uint32_t> sentinels_{0}; // 0 or 1.
    base::atomic<std::uint32_t> late_lookers_{0};                                  // 0 or 1.
    base::atomic<std::uint32_t> unpinned_{0};
    base::atomic<std::uint32_t> next_affinity_{0};
    // Threads inside `post` that are none of its workers'.
    base::atomic<std::uint32_t> visitors_{0};
    // Threads that were started and have not yet left their loops.
    base::atomic<std::uint32_t> running_threads_{0};

    sched::consolidation consolidation_;

    base::spin_lock stealable_lock_;
    context* stealable_contexts_ = nullptr;
    base::atomic<std::uint32_t> stealable_count_{0};
};

} // namespace sennit::sched
