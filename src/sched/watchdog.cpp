// SPDX-License-Identifier: Apache-2.0
#include "sched/watchdog.hpp"

#include "sched/per_process.hpp"
#include "sched/registry.hpp"
#include "sched/runtime_core.hpp"
#include "sched/tuning.hpp"
#include "sched/worker.hpp"
#include "sennit/base/company.hpp"
#include "sys/clock.hpp"
#include "sys/futex.hpp"
#include "sys/mutex.hpp"
#include "sys/report.hpp"
#include "sys/thread.hpp"

#include <exception>
#include <mutex>

namespace sennit::sched {

base::atomic<std::uint32_t> watchdog::dozing_{0};
base::atomic<sys::task_id> watchdog::task_{0};

#ifdef SENNIT_SIMULATOR // scenarios call reliefs themselves
bool watchdog::enroll() noexcept {
    return false;
}
void watchdog::withdraw() noexcept {}
void watchdog::wake_up() noexcept {}
#else

struct watchdog::state {
    sys::mutex mutex; // guards the next two
    unsigned runtimes = 0;
    sys::thread thread;
    base::atomic<std::uint32_t> ending{0};
};

watchdog::state* watchdog::here() noexcept {
    static constinit per_process<state> all;
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
            dozing_.store(0); // a child of fork() has its parent's
            task_.store(0);
            all.thread = sys::thread(&watchdog::thread_main, &all);
        }
        notice();
    } catch (const std::exception&) {
        tell_once("there is no watchdog: the system refused its thread");
    }
    return true;
}

void watchdog::withdraw() noexcept {
    state& all = *here(); // made by `enroll`
    std::lock_guard guard(all.mutex);
    if (--all.runtimes != 0 || !all.thread.joinable()) return;
    all.ending.store(1);
    sys::futex_wake(all.ending, 1);
    notice();
    all.thread.join();
    task_.store(0);
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

void watchdog::thread_main(void* self) noexcept {
    state& all = *static_cast<state*>(self);
    sys::thread::set_name("sennit-watchdog");
    task_.store(sys::this_task());
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
        base::leave_company(); // that a relief was called for, or sent back
        const std::int64_t until = sys::now_ns() + tuning::watch_period_ns;
        while (all.ending.load() == 0 && sys::futex_wait_until(all.ending, 0, until)) {
        }
    }
}

// False: every worker is in bed.
bool watchdog::look() noexcept {
    bool awake = false;
    const auto guard = registry::lock();
    for (runtime_core* one : registry::all())
        if (one->most_crew() != one->worker_count() && !one->lost_in_fork()) awake |= look_at(*one);
    return awake;
}

bool watchdog::look_at(runtime_core& one) noexcept {
    unsigned stuck = 0, on_duty = 0, in_bed = 0;
    bool all_stuck = true, ready = false;
    worker* relief = nullptr;
    for (unsigned i = 0, all = one.crew_size(); i < all; ++i) {
        worker& each = one.worker_at(i);
        if (!each.thread_.joinable()) continue; // a relief whose thread was refused
        if (each.stands_down()) {
            empty_inbox(each);
            continue;
        }
        const bool gets_on = !is_stuck(each);
        if (each.is_relief() && !each.is_hired()) {
            ++on_duty;
            if (!relief || gets_on) relief = &each;
        }
        in_bed += one.idle().is_set(i);
        if (gets_on) {
            all_stuck = false;
            continue;
        }
        ++stuck;
        ready = ready || each.queue().in_sight() != 0 || each.inbox().offers();
    }
    if (all_stuck)
        ready = ready || !one.injected().empty() || one.has_orphans() || one.clock().next_ns() <= sys::now_ns();
    // Who was to watch may have found something else to do, as long as this: somebody who has slept since before.
    if (ready && in_bed != 0) one.wake_one();
    if (ready && in_bed == 0 && on_duty < stuck) {
        bool refused = false;
        if (!one.call_relief(refused) && refused)
            tell_once("the watchdog cannot relieve a worker: the system refused a thread or memory; it goes on trying");
    } else if (on_duty > stuck) {
        one.send_back(*relief);
    }
    return !one.all_in_bed();
}

bool watchdog::is_stuck(worker& one) noexcept {
    const counters& seen = one.counted;
    const std::uint64_t progress = seen.runs() + seen.exchanges.read() + seen.steals.read() + seen.parks.read();
    const bool awake = !one.runtime_.idle().is_set(one.index_);
    const std::int64_t worked = sys::processor_ns(one.thread_.handle());
    if (!awake || !one.noted_.awake || progress != one.noted_.progress) {
        one.noted_ = {progress, worked, awake};
        return false;
    }
    const sys::task_id task = one.task_.load();
    return worked - one.noted_.processor_ns >= tuning::stuck_ns || (task != 0 && sys::is_blocked(task));
}

// What mailboxes that had their last turn there are told: any worker may take it.
void watchdog::empty_inbox(worker& relief) noexcept {
    while (runnable* item = relief.inbox_.pop_movable(shared_queue::any)) {
        item->home = 0;
        relief.runtime_.post(*item);
    }
}

#endif

} // namespace sennit::sched
