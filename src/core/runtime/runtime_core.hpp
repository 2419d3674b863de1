// SPDX-License-Identifier: Apache-2.0
// A runtime's engine: its workers, its contexts, what they share, and its birth and death.
//
// Birth: everything that can be refused (memory, threads) is asked for in the constructor; if
// something is refused, what was started is ended again and the refusal is thrown. Death: `stop` is
// set, all sleepers are woken, each worker ends when it finds no work; then the threads are joined.
#pragma once

#include "actors/runtime/mailbox_table.hpp"
#include "blocking/blocking_pool.hpp"
#include "core/idle/idle_map.hpp"
#include "core/idle/timers.hpp"
#include "core/memory/context_pool.hpp"
#include "core/queues/shared_queue.hpp"
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
    // Workers, and after them the reliefs that there are so far: src/core/spare/spare_worker.cpp.
    unsigned worker_count_with_spares() const noexcept {
        return worker_capacity() == worker_count() ? worker_count()
                                                   : worker_count_with_spares_.load();
    }
    unsigned worker_capacity() const noexcept { return static_cast<unsigned>(workers_.size()); }
    worker& worker_at(unsigned index) noexcept { return *workers_[index]; } // of the crew

    // Those of the crew that work: workers, and the reliefs that `resize` keeps.
    unsigned active_worker_count() const noexcept {
        return worker_count() + retained_spare_count_.load_rlx();
    } // orders nothing: a number
    // Calls reliefs for good, or sends such back: docs at runtime::resize.
    void resize(unsigned workers);

    // The watchdog's. False: there is none to be had; `refused` says that the system had no thread
    // or no memory.
    bool activate_spare(bool& refused) noexcept;
    void release_spare(worker& spare) noexcept;
    context_pool& contexts() noexcept { return contexts_; }
    shared_queue& injector() noexcept { return injector_; }
    idle_map& idle() noexcept { return idle_; }
    sched::timers& timers() noexcept { return timers_; }
    mailbox_table& mailboxes() noexcept { return mailboxes_; }
    blocking_pool& blocking_calls() noexcept { return blocking_; }

    // Any thread: into the shared queue, or into the inbox of the worker that alone may run it.
    // What is posted may run, and let somebody destroy this runtime, before the post is complete:
    // the end waits for threads of others.
    void post(runnable& what) noexcept;

    scheduling policy() const noexcept { return options_.policy; }
    // Whether workers take work from each other.
    bool steals() const noexcept { return policy() != scheduling::round_robin; }
    std::size_t stack_size() const noexcept { return options_.stack_size; }
    // Checks the number of a worker and gives it as a runnable's home. Throws
    // std::invalid_argument.
    std::uint16_t affinity_to(unsigned worker) const;
    // The next one in turn.
    std::uint16_t next_affinity() noexcept;

    // Wakes one sleeping worker, if any sleeps. Call after the work is visible. One load when
    // nobody sleeps.
    void wake_one() noexcept {
        const unsigned chosen = idle_.take_any(worker_capacity());
        if (chosen != idle_map::none) worker_at(chosen).parker().notify();
    }

    // The same for this one, if it sleeps. True: it did.
    bool wake_worker(unsigned index) noexcept {
        if (!idle_.clear(index)) return false;
        worker_at(index).parker().notify();
        return true;
    }

    // Whether a worker sleeps with an eye on the others' queues, so that a single piece of work in
    // one wakes nobody.
    bool has_sentinel() const noexcept { return sentinels_.load() != 0; }
    bool try_become_sentinel() noexcept {
        std::uint32_t none = 0;
        return sentinels_.cas(none, 1);
    }
    void release_sentinel() noexcept { sentinels_.store(0); }

    // At most half of the awake workers look for work at the same time; a lone worker need not ask.
    bool begin_search() noexcept;
    void end_search() noexcept { searching_.fetch_sub(1); }

    const runtime_options& options() const noexcept { return options_; }
    bool all_parked() const noexcept; // each has announced that it sleeps; may change at any time
    bool has_stealable_contexts() const noexcept { return stealable_count_.load() != 0; }

    bool stopping() const noexcept { return stopping_.load() != 0; }

    // Suspended contexts that still have forks to offer, with the worker that they are left on.
    // (Their own `affinity` may change: who is about to leave one writes it, and so does who runs
    // on, since there was nothing to leave it for.)
    void register_stealable(context& one, std::uint16_t affinity) noexcept;
    // By who resumes it. Whoever left it put it among the orphans before anybody could make it
    // ready, so that is seen here; others only take it out meanwhile, and then the lock tells.
    static void unregister_stealable(context& one) noexcept {
        if (one.stealable.load_rlx()) [[unlikely]] // a hint, as said above
            unregister_stealable_slow(one);
    }
    // One with public forks; drops those without. `affinity`: only what was left there; 0: any.
    context* find_stealable_context(std::uint16_t affinity) noexcept;

    // For the workers' threads.
    context& first_context(unsigned index) noexcept { return *first_contexts_[index]; }
    void place_worker(unsigned index) noexcept;
    void wait_for_all_workers() noexcept;

    // True in a child of fork(): the workers' threads are not here.
    bool lost_in_fork() const noexcept;
    void check_not_lost() const; // throws std::system_error

    runtime_metrics metrics() const;

private:
    friend class snapshot;
    friend class watchdog;
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
    std::vector<unsigned> cpus_;
    context_pool contexts_;
    mailbox_table mailboxes_{*this};
    std::vector<std::unique_ptr<worker>> workers_; // null: a relief that was never needed
    std::vector<context*> first_contexts_;
    sys::mutex
        spares_mutex_; // held while a relief is called, and by a dump; before the contexts' pool's
    base::atomic<std::uint32_t> worker_count_with_spares_{0};
    base::atomic<std::uint32_t> retained_spare_count_{
        0}; // reliefs that stay until `resize` sends them back; under the crew's lock
    bool enrolled_in_watchdog_ = false; // by the watchdog
    struct {
        std::int64_t since_ns = 0; // 0: no work waits for a thread that is not to be had
        bool told = false;
    } starvation_; // the watchdog's
    base::atomic<std::uint64_t> spares_activated_{0};
    base::atomic<std::uint64_t> spares_released_{0};
    shared_queue injector_;
    sched::timers timers_;
    blocking_pool blocking_;
    idle_map idle_;
    base::atomic<std::uint32_t> stopping_{0};
    base::atomic<std::uint32_t> searching_{0};
    base::atomic<std::uint32_t> sentinels_{0}; // 0 or 1
    base::atomic<std::uint32_t> unpinned_{0};
    base::atomic<std::uint32_t> next_affinity_{0};
    base::atomic<std::uint32_t> visitors_{0}; // threads inside `post` that are none of its workers'
    base::atomic<std::uint32_t> running_threads_{0}; // started and not yet out of their loops

    base::spin_lock stealable_lock_;
    context* stealable_contexts_ = nullptr;
    base::atomic<std::uint32_t> stealable_count_{0};
};

} // namespace sennit::sched
