// SPDX-License-Identifier: Apache-2.0
#include "core/diagnostics/deadlock_detector.hpp"

#include "core/runtime/fork_safe_static.hpp"
#include "core/runtime/registry.hpp"
#include "core/runtime/runtime_core.hpp"
#include "core/spare/watchdog.hpp"
#include "sennit/detail/sys/single_threaded.hpp"
#include "sys/clock.hpp"
#include "sys/futex.hpp"
#include "sys/membarrier.hpp"
#include "sys/mutex.hpp"
#include "sys/report.hpp"
#include "sys/signal_thread.hpp"
#include "sys/thread.hpp"
#include "sys/thread_suspender.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

namespace sennit::sched {

struct deadlock_detector::observation {
    std::vector<std::uint64_t> states;
    std::vector<sys::os_thread_id> asleep;
    bool operator==(const observation&) const = default;
};

namespace {

// The pauses before the looks: the first begins when the thread falls asleep, each further one at
// the look before.
constexpr std::array<std::int64_t, 3> looks_after_ns{50'000'000, 500'000'000, 5'000'000'000};

struct sleeping_thread : base::list_node {
    explicit sleeping_thread(const waiter& whose) noexcept
        : who(whose), os_thread(sys::this_os_thread()) {}
    const waiter& who;
    const sys::os_thread_id os_thread;
};
struct whole_process {
    base::spin_lock lock; // Guards the two below.
    base::intrusive_queue<sleeping_thread> list;
    std::uint64_t entered = 0;

    sys::mutex one_looks;
    deadlock_detector::observation last_reported; // Guarded by `one_looks`.
    // The runtime whose callback is being called; null: none. Other threads do not look meanwhile:
    // they would find the same deadlock, and report it after it has changed. Set under `one_looks`
    // and the registry's lock, so that the runtime's destructor finds it.
    base::atomic<const runtime_core*> reporting_for{nullptr};
    base::atomic<sys::os_thread_id> callback_thread{0}; // The thread that runs that callback.
    base::atomic<std::uint32_t> callbacks_ended{0};     // Counts the callbacks that have ended.
    // The thread of the last callback that ran on its own thread; belongs to the thread that has
    // set `reporting_for`.
    sys::thread thread;
};

// Null where memory is refused: then no thread detects a deadlock.
constinit fork_safe_static<whole_process> whole;

base::atomic<deadlock_detector::describer> describe{nullptr};
base::atomic<sys::os_thread_id> ignored_thread{0};

base::atomic<std::int64_t> test_interval_ns{0}; // 0: no test has set it.
base::atomic<void (*)() noexcept> after_look{nullptr};

// A callback and its report. The thread that calls the callback frees it.
struct pending_report {
    std::function<void(std::string_view)> callback;
    std::string report;
    whole_process* all;
};

void run_callback(void* given) noexcept {
    std::unique_ptr<pending_report> what(static_cast<pending_report*>(given));
    whole_process& all = *what->all;
    all.callback_thread.store(sys::this_os_thread());
    what->callback(what->report);
    what.reset(); // The callback's copies may refer to objects that end with its runtime.
    all.callback_thread.store(0);
    all.reporting_for.store(nullptr);
    all.callbacks_ended.fetch_add(1);
    const base::atomic<std::uint32_t>& word = all.callbacks_ended;
    sys::futex_wake(word, std::numeric_limits<int>::max());
}

// A callback may block in the library. A worker's context would then be suspended in the middle of
// parking. A worker therefore starts a thread for the callback, and parks meanwhile: the callback
// may wait for an action of this worker. Where that thread is refused, the callback runs here.
void run_callback_on_own_thread(std::unique_ptr<pending_report> what) noexcept {
    if (this_worker()) {
        sys::thread& thread = what->all->thread;
        thread.join(); // Joins the thread of an earlier callback, which has returned.
        try {
            thread = sys::thread(
                [](void* given) noexcept {
                    sys::thread::set_name("sennit-deadlock");
                    run_callback(given);
                },
                what.get());
            (void)what.release(); // The new thread owns it.
            return;
        } catch (const std::exception&) {
        }
    }
    run_callback(what.release());
}

// The simulator does not use these pauses.
[[maybe_unused]] std::int64_t effective_interval(std::int64_t pause_ns) noexcept {
    const std::int64_t other = test_interval_ns.load();
    return other != 0 ? other : pause_ns;
}

// Calls `sleep(until_ns)` in pauses, with a look after each. Ends when `sleep` says that there is
// no more need, `excluded` that no look would report a deadlock, a look has reported one, or all
// looks were made. A refused look is repeated.
template <class F, class E>
[[maybe_unused]] void look_between(F&& sleep, E&& excluded) {
    for (std::size_t looks = 0; looks < looks_after_ns.size();) {
        if (excluded()) return;
        if (sleep(sys::now_ns() + effective_interval(looks_after_ns[looks]))) return;
        const deadlock_detector::look_result seen = deadlock_detector::look();
        if (seen == deadlock_detector::reported) return;
        looks += seen == deadlock_detector::nothing;
    }
}

} // namespace

void sleep_for_good(waiter& who) noexcept {
#ifndef SENNIT_SIMULATOR
    sleeping_thread me(who);
    whole_process* const here = whole.get();
    whole_process* all = here;
    // The thread that reports a deadlock does not count. Looks are refused until its callback is
    // done, and its sleep changes no state.
    if (all && all->callback_thread.load() == me.os_thread) all = nullptr;
    if (all) {
        {
            std::lock_guard guard(all->lock);
            all->list.push_back(me);
            ++all->entered;
        }
        look_between(
            [&who](std::int64_t until) noexcept {
                base::unregister_this_thread();
                while (who.signal.load() == 0 && sys::futex_wait_until(who.signal, 0, until)) {
                }
                return who.signal.load() != 0;
            },
            [] { return false; });
    }
#endif
    base::unregister_this_thread();
    while (who.signal.load() == 0) sys::futex_wait(who.signal, 0);
#ifndef SENNIT_SIMULATOR
    if (!all || whole.find() != here) return; // A deadlock callback may have called fork().
    std::lock_guard guard(all->lock);
    all->list.remove(me);
#endif
}

#ifdef SENNIT_SIMULATOR // The simulator's time does not depend on looks.
bool idle_search::park_without_deadline(event_source* events) noexcept {
    return parker_.sleep_for_either(never, events, caught_);
}
#else
bool idle_search::park_without_deadline(event_source* events) noexcept {
    advance_untimed_park_epoch();
    bool chosen = false;
    look_between(
        [&](std::int64_t until) noexcept {
            if (!me_.runtime().all_parked()) return true; // A worker that parks later looks.
            chosen = parker_.sleep_for_either(until, events, caught_);
            return chosen || caught_.count != 0;
        },
        [this] { return deadlock_detector::excluded_by(me_.runtime()); });
    base::unregister_this_thread(); // The looks may have taken locks.
    if (!chosen && caught_.count == 0) chosen = parker_.sleep_for_either(never, events, caught_);
    advance_untimed_park_epoch();
    return chosen;
}
#endif

bool deadlock_detector::excluded_by(runtime_core& one) noexcept {
    if (!one.options().watch_deadlocks || one.timers().next_ns() != never) return true;
    event_source* const events = one.events();
    return events && events->surely_awaited();
}

void deadlock_detector::set_describer(describer what) noexcept {
    describe.store(what);
}

void deadlock_detector::ignore_thread(sys::os_thread_id thread) noexcept {
    ignored_thread.store(thread);
}

void deadlock_detector::set_test_interval(std::int64_t pause_ns,
                                          void (*after)() noexcept) noexcept {
    test_interval_ns.store(pause_ns);
    after_look.store(after);
}

// Returns false if something can continue.
bool deadlock_detector::take(observation& seen) {
    for (runtime_core* one : registry::all()) {
        if (one->lost_in_fork()) continue;
        if (one->stopping() || !one->options().watch_deadlocks) return false;
        if (one->timers().next_ns() != never || !one->injector().empty() ||
            one->has_stealable_contexts())
            return false;
        if (event_source* events = one->events(); events && events->awaited()) return false;
        for (unsigned i = 0; i < one->worker_count_with_spares(); ++i) {
            worker& other = one->worker_at(i);
            if (!other.thread().joinable()) continue; // A spare worker whose thread was refused.
            const std::uint32_t epoch = other.idling().untimed_park_epoch();
            if (epoch % 2 == 0 || !(one->idle().is_set(i) || other.spare().is_inactive()) ||
                other.idling().untimed_park_epoch() != epoch)
                return false;
            if (!other.queue().empty() || !other.pinned_queue().empty()) return false;
            seen.states.push_back(epoch);
            seen.asleep.push_back(other.os_thread());
        }
        const blocking_pool::call_counts helpers = one->blocking_calls().count(seen.asleep);
        if (helpers.begun != helpers.ended) return false;
        seen.states.push_back(helpers.begun);
    }
    whole_process* const all = whole.get();
    if (!all) return false;
    std::lock_guard guard(all->lock);
    for (sleeping_thread* each = all->list.front(); each; each = all->list.after(*each)) {
        if (each->who.signal.load() != 0) return false;
        seen.asleep.push_back(
            each->os_thread); // May allocate under a spin lock: on this path only.
    }
    seen.states.push_back(all->entered);
    return true;
}

bool deadlock_detector::all_known(const observation& seen) {
    const std::vector<sys::os_thread_id> os_threads = sys::list_os_threads();
    return !os_threads.empty() &&
           std::all_of(os_threads.begin(), os_threads.end(), [&](sys::os_thread_id one) {
               return one == ignored_thread.load() || one == watchdog::os_thread() ||
                      std::find(seen.asleep.begin(), seen.asleep.end(), one) != seen.asleep.end();
           });
}

// Requires the registry's lock.
bool deadlock_detector::found(observation& first) {
    if (!take(first) || !all_known(first)) return false;
    if (sys::catches_signals(sys::handled_signal(), sys::thread_suspender_signal())) return false;
    if (sys::barrier_available() && !sys::barrier_all_threads()) return false;
    observation second;
    return all_known(first) && take(second) && first == second;
}

deadlock_detector::look_result deadlock_detector::look() noexcept {
    whole_process* const all = whole.get();
    if (!all) return nothing;
    std::unique_lock sole_look(all->one_looks, std::try_to_lock);
    if (!sole_look || all->reporting_for.load()) return refused;
    std::unique_ptr<pending_report> what;
    try {
        const describer write = describe.load();
        if (!write) return nothing;
        // The lock may be held by the watchdog, which looks, or by a thread that changes the
        // runtimes.
        const auto guard = registry::try_lock();
        if (!guard) return refused;
        observation now;
        // An equal observation: nothing has moved since the last report.
        if (!found(now) || now == all->last_reported) {
            if (const auto test_hook = after_look.load()) test_hook();
            return nothing;
        }
        const runtime_core* owner = nullptr;
        what = std::make_unique<pending_report>();
        what->all = all;
        for (runtime_core* one : registry::all())
            if (!what->callback && (what->callback = one->options().on_deadlock)) owner = one;
        what->report = write();
        all->last_reported = std::move(now);
        all->reporting_for.store(owner);
    } catch (const std::exception&) {
        return nothing; // No memory, or no descriptor, to look.
    }
    if (!what->callback) {
        sys::report({what->report.c_str()});
        sys::end_process(deadlock_exit_status);
    }
    sole_look.unlock(); // `reporting_for` keeps other threads away.
    run_callback_on_own_thread(std::move(what));
    return reported;
}

#ifdef SENNIT_SIMULATOR // No thread looks.
void deadlock_detector::wait_for_callback(const runtime_core&) noexcept {}
#else
void deadlock_detector::wait_for_callback(const runtime_core& of) noexcept {
    whole_process* const all = whole.get();
    // Nothing was reported, or the callback itself ends the runtime.
    if (!all || all->callback_thread.load() == sys::this_os_thread()) return;
    for (;;) {
        const std::uint32_t before = all->callbacks_ended.load();
        if (all->reporting_for.load() != &of) return;
        base::unregister_this_thread();
        sys::futex_wait(all->callbacks_ended, before);
    }
}
#endif

} // namespace sennit::sched
