// SPDX-License-Identifier: Apache-2.0
#include "core/spare/watchdog.hpp"

#include "core/policy/tuning.hpp"
#include "core/runtime/fork_safe_static.hpp"
#include "core/runtime/registry.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/worker/worker.hpp"
#include "sennit/detail/sys/single_threaded.hpp"
#include "sys/clock.hpp"
#include "sys/futex.hpp"
#include "sys/mutant.hpp"
#include "sys/mutex.hpp"
#include "sys/report.hpp"
#include "sys/thread.hpp"

#include <exception>
#include <mutex>

namespace sennit::sched {

base::atomic<std::uint32_t> watchdog::dozing_{0};
base::atomic<sys::os_thread_id> watchdog::os_thread_{0};
base::atomic<watchdog::describer> watchdog::describe_{nullptr};

#ifdef SENNIT_SIMULATOR // Scenarios make the looks themselves.
bool watchdog::enroll() noexcept {
    return false;
}
void watchdog::withdraw() noexcept {}
void watchdog::wake_up() noexcept {}
void watchdog::tell_once(const char*) noexcept {}
void watchdog::await_turns() noexcept {}
#else

struct watchdog::state {
    sys::mutex mutex; // Guards the next two.
    unsigned runtimes = 0;
    sys::thread thread;
    base::atomic<std::uint32_t> ending{0};
};

watchdog::state* watchdog::here() noexcept {
    static constinit fork_safe_static<state> all;
    return all.get();
}

bool watchdog::enroll() noexcept {
    state* const own = here();
    if (!own) return false;
    state& all = *own;
    std::lock_guard guard(all.mutex);
    try {
        if (all.runtimes++ == 0 || !all.thread.joinable()) {
            all.ending.store(0);
            dozing_.store(0); // A child of fork() inherits its parent's value.
            os_thread_.store(0);
            all.thread = sys::thread(&watchdog::thread_main, &all);
        }
        notice();
    } catch (const std::exception&) {
        tell_once("[SNT-033] there is no watchdog: the system refused its thread; work behind a "
                  "blocking call waits until the call returns. Raise the limit of threads (ulimit "
                  "-u, the cgroup's pids.max)");
    }
    return true;
}

void watchdog::withdraw() noexcept {
    state& all = *here(); // Made by `enroll`.
    std::lock_guard guard(all.mutex);
    if (--all.runtimes != 0 || !all.thread.joinable()) return;
    all.ending.store(1);
    sys::futex_wake(all.ending, 1);
    notice();
    all.thread.join();
    os_thread_.store(0);
}

void watchdog::wake_up() noexcept {
    dozing_.store(0);
    const base::atomic<std::uint32_t>& word = dozing_;
    sys::futex_wake(word, 1);
}

void watchdog::tell_once(const char* what) noexcept {
    static base::atomic<std::uint32_t> told{0};
    if (told.exchange(1) == 0) sys::report({"sennit: ", what, "\n"});
}

// Waits for a moment until the stuck workers have answered the request for a turn. A fiber that
// only takes free locks answers at the next one: this thread registers, which ends the exclusive
// mode of the fiber's worker, so its locks take their slow paths (sched::yield_if_requested).
void watchdog::await_turns() noexcept {
    base::register_this_thread();
    pause(*here(), tuning::turn_wait_ns);
}

// Waits for `time_ns`, or until the watchdog ends.
void watchdog::pause(const state& all, std::int64_t time_ns) noexcept {
    const std::int64_t until = sys::now_ns() + time_ns;
    while (all.ending.load() == 0 && sys::futex_wait_until(all.ending, 0, until)) {
    }
}

void watchdog::thread_main(void* self) noexcept {
    state& all = *static_cast<state*>(self);
    sys::thread::set_name("sennit-watchdog");
    os_thread_.store(sys::this_os_thread());
    unsigned quiet = 0;
    while (all.ending.load() == 0) {
        quiet = look() ? 0 : quiet + 1;
        if (quiet > tuning::quiet_looks) {
            dozing_.store(1);
            if (!look())
                while (dozing_.load() != 0 && all.ending.load() == 0) sys::futex_wait(dozing_, 1);
            dozing_.store(0);
            quiet = 0;
        }
        // The watchdog registered if it requested turns, or activated or released a spare worker.
        base::unregister_this_thread();
        pause(all, tuning::watch_period_ns);
    }
}

// Returns false if every worker is parked.
bool watchdog::look() noexcept {
    bool awake = false;
    const auto guard = registry::lock();
    for (runtime_core* one : registry::all())
        if (one->worker_capacity() != one->worker_count() && !one->lost_in_fork())
            awake |= look_at(*one);
    return awake;
}

#endif

// The result of one pass over all workers of a runtime.
struct watchdog::census {
    unsigned stuck = 0; // Threads that count as workers and make no progress.
    // Leaving spare workers that make no progress and have work in their queues.
    unsigned stuck_leaving = 0;
    unsigned active_spares = 0; // Spare workers that the watchdog has activated.
    unsigned parked = 0;
    bool no_progress = true; // True if all workers are stuck.
    // True if all workers that stay are stuck: work for any worker waits, too.
    bool none_serves = true;
    bool work_behind = false; // True if work waits behind a stuck worker.
    worker* to_release = nullptr;

    unsigned wanted_spares() const noexcept { return stuck + stuck_leaving; }
};

watchdog::census watchdog::count(runtime_core& of) noexcept {
    census found;
    for (unsigned i = 0, all = of.worker_count_with_spares(); i < all; ++i) {
        worker& each = of.worker_at(i);
        if (!each.thread().joinable()) continue; // A spare worker whose thread was refused.
        if (each.spare().is_inactive() || (SENNIT_MUTANT("look at a spare until it is inactive") &&
                                           each.spare().deactivation_requested())) {
            drain_pinned_queue(each);
            continue;
        }
        const bool leaves = each.spare().deactivation_requested();
        const bool stuck = is_stuck(each);
        found.parked += of.idle().is_set(i);
        found.no_progress = found.no_progress && stuck;
        found.none_serves = found.none_serves && (stuck || leaves);
        if (each.spare().is_spare() && !each.spare().is_retained() && !leaves) {
            ++found.active_spares;
            if (!found.to_release || !stuck) found.to_release = &each;
        }
        if (!stuck) continue;
        const bool work = each.queue().in_sight() != 0 || each.pinned_queue().has_soft_affinity();
        found.work_behind = found.work_behind || work;
        if (!leaves)
            ++found.stuck;
        else if (work)
            ++found.stuck_leaving;
    }
    return found;
}

// Returns true if work is ready that no worker takes.
bool watchdog::is_work_ready(runtime_core& of, const census& now) noexcept {
    if (now.work_behind) return true;
    if (!now.none_serves) return false;
    event_source* const events = of.active_events();
    return !of.injector().empty() || of.has_stealable_contexts() ||
           of.timers().next_ns() <= sys::now_ns() || (events && events->pending());
}

// Returns false if every worker is parked.
bool watchdog::look_at(runtime_core& one) noexcept {
    census now = count(one);
    bool ready = is_work_ready(one, now);
    // Busy workers reach all that at global polls, which are far apart if tasks have become long
    // only recently.
    const bool late = one.timers().next_ns() <= sys::now_ns() - tuning::watch_period_ns ||
                      !one.injector().empty() || one.active_events();
    if (now.parked == 0)
        for (unsigned i = 0, all = one.worker_count_with_spares(); i < all; ++i)
            if (worker& each = one.worker_at(i); late || ready || !each.pinned_queue().empty())
                each.polls().request();
    if (ready && now.parked == 0 && now.active_spares < now.wanted_spares()) {
        for (unsigned i = 0, all = one.worker_count_with_spares(); i < all; ++i)
            one.worker_at(i).request_turn();
        await_turns();
        now = count(one);
        ready = is_work_ready(one, now);
    }
    bool waits = false; // True if work waits for a thread that the options do not allow.
    // The next sentinel may have found other work, which takes this long: wake a worker that has
    // been parked since before.
    if (ready && now.parked != 0) {
        one.wake_searcher();
    } else if (ready && now.active_spares < now.wanted_spares()) {
        bool refused = false;
        waits = !one.activate_spare(refused) && !refused;
        if (refused)
            tell_once("[SNT-034] the watchdog cannot replace a blocked worker: the system refused "
                      "a thread or memory; it tries again. Raise the limit of threads (ulimit -u, "
                      "the cgroup's pids.max), or free memory");
    } else if (now.active_spares > now.wanted_spares()) {
        one.release_spare(*now.to_release);
    }
    note_starvation(one, waits && now.no_progress);
    return !one.all_parked();
}

void watchdog::set_describer(describer what) noexcept {
    describe_.store(what);
}

void watchdog::note_starvation(runtime_core& of, bool starves) noexcept {
    auto& noted = of.starvation_;
    if (!starves) {
        noted.since_ns = 0;
        return;
    }
    const std::int64_t now = sys::now_ns();
    if (noted.since_ns == 0) noted.since_ns = now;
    const describer describe = describe_.load();
    if (noted.told || !describe || now - noted.since_ns < tuning::starvation_ns) return;
    noted.told = true;
    try {
        sys::report({describe(of).c_str()});
    } catch (const std::exception&) {
        sys::report({"sennit: [SNT-032] work is ready and no worker makes progress; there is no "
                     "memory for the full report\n"});
    }
}

bool watchdog::is_stuck(worker& one) noexcept {
    const counters& seen = one.counted;
    const std::uint64_t progress =
        seen.tasks_run() + seen.direct_switches.read() + seen.steals.read() + seen.parks.read();
    const bool awake = !one.runtime().idle().is_set(one.index());
    const std::int64_t worked = sys::cpu_time_ns(one.runs_on());
    if (!awake || !one.note.awake || progress != one.note.progress) {
        one.note = {progress, worked, awake};
        return false;
    }
    const sys::os_thread_id os_thread = one.os_thread();
    return worked - one.note.cpu_time_ns >= tuning::stuck_ns ||
           (os_thread != 0 && sys::is_blocked(os_thread));
}

// Moves wakeups of mailboxes that had their last batch on `spare` to the injector: any worker may
// run them.
void watchdog::drain_pinned_queue(worker& spare) noexcept {
    while (runnable* item = spare.pinned_queue().pop_soft_affinity(shared_queue::any)) {
        item->affinity = 0;
        spare.runtime().post(*item);
    }
}

} // namespace sennit::sched
