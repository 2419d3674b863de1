// SPDX-License-Identifier: Apache-2.0
// What a worker does that found nothing: look for a moment, ask, sleep. The protocol and its proof:
// src/sched/README.md.
#include "sched/runtime_core.hpp"
#include "sched/tuning.hpp"
#include "sched/worker.hpp"
#include "sennit/sys/cpu_relax.hpp"
#include "sys/clock.hpp"
#include "sys/membarrier.hpp"
#include "sys/mutant.hpp"
#include "sys/thread.hpp"

namespace sennit::sched {

using tuning::force_after_ns, tuning::pauses_per_look, tuning::spin_ns;

bool worker::work_in_sight() noexcept {
    if (!runtime_.injected().empty() || runtime_.find_orphan()) return true;
    for (unsigned i = 0; i < runtime_.worker_count(); ++i) {
        worker& other = runtime_.worker_at(i);
        if (!other.ready().empty() || !other.spawned().empty()) return true;
        if (context* target = other.running(); target && !fork_range::of(target->forks.load()).empty()) return true;
    }
    return false;
}

// True: look for work again. False: the runtime ends and nothing is left to do.
bool worker::rest() noexcept {
    const auto ask_all = [this] {
        for (unsigned i = 0; i < runtime_.worker_count(); ++i)
            if (worker& other = runtime_.worker_at(i); &other != this) other.ask_to_publish();
    };
    if (runtime_.begin_spin()) {
        const std::int64_t start = sys::now_ns();
        bool found = false;
        bool forced = false;
        for (std::int64_t now = start; !found && now - start < spin_ns && !runtime_.stopping(); now = sys::now_ns()) {
            ask_all();
            for (unsigned i = 0; i < pauses_per_look; ++i) sys::cpu_relax();
            if (!forced && now - start > force_after_ns) {
                forced = true;
                force_somebody();
            }
            found = work_in_sight();
        }
        runtime_.end_spin();
        if (found) return true;
    }
    parker_.announce();
    runtime_.idle().set(index_);
    ask_all();
    // Whoever pushed without seeing the request has its push visible to us behind this; whoever pushes later sees it.
    if (runtime_.worker_count() > 1 && sys::barrier_available() && !SENNIT_MUTANT("barrier before the last look"))
        (void)sys::barrier_all_threads(); // refused: as where there is none, see README.md
    if (!SENNIT_MUTANT("force before sleep")) force_somebody();
    const bool stopping = runtime_.stopping();
    const bool work = work_in_sight();
    if (work || stopping) {
        if (runtime_.idle().clear(index_)) {
            parker_.cancel();
        } else {
            parker_.sleep();     // a waker has chosen us: take its token, which is on the way,
            runtime_.wake_one(); // and pass it on, since what we saw may be other work than what it meant
        }
        return work;
    }
    counted.parks.add();
    parker_.sleep();
    return true;
}

} // namespace sennit::sched
