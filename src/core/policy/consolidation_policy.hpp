// SPDX-License-Identifier: Apache-2.0
// The consolidation policy of one worker: notices that its tasks communicate with those of other
// workers, and measures whether they run faster on one worker.
//
// Why. A message, a wake-up or a lock that crosses from one worker to another costs 0.1 to 1 us. A
// task that does less than that between two crossings runs faster beside its partners on one
// worker, however many workers are idle. How much faster depends on the machine and on the tasks.
// So the policy does not estimate it: it tries, and compares.
//
// Phases.
// 1. watching   The worker counts its *crossings*: tasks that it took from outside its own queue,
//               messages that it sent to another worker, and four for each lock of an object that
//               it found taken. The window ends after 64 of them, or starts again at a tick of the
//               coarse clock. If at least one in 8 work items
//               crossed, and the items were short, the worker claims (consolidation.hpp).
// 2. measuring  For 200 us: the work items that all workers of the runtime finish. Nothing else
//               changes.
// 3. settling   The worker becomes the host and gathers the ready tasks of all workers.
// 4. trying     The work items of all workers once more, in 2 to 20 parts of 50 us, until the rate
//               is steady.
// 5. hosting    If the rate was at least 1.1 times the first, the worker hosts for 20 ms, up to 1 s
//               if that is repeated. It keeps comparing.
//
// A wrong answer costs time, nothing else. Own thread only. No clock and no counter is read here.
// The figures are in decision record 0049.
#pragma once

#include "core/policy/tuning.hpp"

#include <cstdint>

namespace sennit::sched {

class consolidation_policy {
public:
    // The next action of the worker.
    enum class action {
        wait,
        begin_hosting,
        gather, // Gather once more.
        keep,   // Ask consolidation::keep how long, and call `host_until`.
        fail,
        end,
    };

    bool watching() const noexcept { return phase_ == phase::watching; }
    // The worker was idle for this time, which says nothing about the length of its tasks.
    void exclude(std::int64_t idle_ns) noexcept {
        if (watching()) since_ns_ += idle_ns;
    }

    // Watching. Returns true if the window ends, and `communicates` has to be called.
    bool window_ends(std::uint64_t crossings, std::int64_t coarse_now_ns) const noexcept {
        return crossings - crossings_ >= tuning::crossings_per_window ||
               coarse_now_ns != window_tick_ns_;
    }
    // Ends the window. Returns true if the tasks of this worker communicate with those of other
    // workers, and do little else. `work`: the worker's work items so far.
    bool communicates(std::uint64_t crossings, std::uint64_t work, std::int64_t now_ns,
                      std::int64_t coarse_now_ns) noexcept {
        const std::uint64_t crossed = crossings - crossings_;
        const std::uint64_t done = work - work_;
        const auto longest = static_cast<std::int64_t>(done) * tuning::short_item_ns;
        const bool often =
            crossed >= tuning::crossings_per_window && crossed * tuning::items_per_crossing >= done;
        const bool is_short = now_ns - since_ns_ < longest || tuning::stressed;
        watch(crossings, work, now_ns);
        window_tick_ns_ = coarse_now_ns;
        return often && is_short;
    }
    // Begins a new window.
    void watch(std::uint64_t crossings, std::uint64_t work, std::int64_t now_ns) noexcept {
        phase_ = phase::watching;
        crossings_ = crossings;
        work_ = work;
        since_ns_ = now_ns;
    }

    // The worker has claimed. `all_work`: the work items of all workers so far.
    void measure(std::uint64_t all_work, std::int64_t now_ns) noexcept {
        begin(phase::measuring, all_work, now_ns, tuning::measuring_ns);
    }
    // True during the trial: short steps make it exact.
    bool needs_short_steps() const noexcept {
        return phase_ != phase::watching && phase_ != phase::hosting;
    }
    // Not watching. Decides the next action. `all_work()` is called only where it is needed.
    template <class F>
    action advance(F&& all_work, std::int64_t now_ns) noexcept {
        if (phase_ == phase::hosting && now_ns >= host_until_ns_) return action::end;
        if (now_ns < next_look_ns_)
            return phase_ == phase::measuring ? action::wait : action::gather;
        const std::uint64_t total = all_work();
        const std::int64_t past = now_ns - since_ns_;
        const std::uint64_t found = rate(total, past);
        switch (phase_) {
        case phase::measuring:
            apart_ = found;
            begin(phase::settling, total, now_ns, tuning::settling_ns);
            return action::begin_hosting;
        case phase::settling:
            begin(phase::trying, total, now_ns, tuning::trial_look_ns);
            looks_ = 0;
            together_ = 0;
            return action::gather;
        case phase::trying:
            begin(phase::trying, total, now_ns, tuning::trial_look_ns);
            return judge(found);
        default:
            begin(phase::hosting, total, now_ns, tuning::hosting_look_ns);
            return found * 10 < apart_ * 9 && !tuning::stressed ? action::fail : action::gather;
        }
    }
    // After action::keep.
    void host_until(std::int64_t end_ns, std::uint64_t all_work, std::int64_t now_ns) noexcept {
        begin(phase::hosting, all_work, now_ns, tuning::hosting_look_ns);
        host_until_ns_ = end_ns;
    }

    // Hosting. Returns true if it is time to gather. The worker looks less often while it finds
    // nothing; `gathered` tells what it found.
    bool gathers_at(std::int64_t now_ns) const noexcept { return now_ns >= next_gathering_ns_; }
    void gathered(std::uint32_t found, std::int64_t now_ns) noexcept {
        gathering_gap_ns_ = found != 0 || gathering_gap_ns_ == 0 ? tuning::shortest_gathering_gap_ns
                            : gathering_gap_ns_ < tuning::longest_gathering_gap_ns
                                ? 2 * gathering_gap_ns_
                                : gathering_gap_ns_;
        next_gathering_ns_ = now_ns + gathering_gap_ns_;
    }

private:
    enum class phase { watching, measuring, settling, trying, hosting };

    void begin(phase next, std::uint64_t all_work, std::int64_t now_ns,
               std::int64_t until_look_ns) noexcept {
        phase_ = next;
        work_ = all_work;
        since_ns_ = now_ns;
        next_look_ns_ = now_ns + until_look_ns;
    }
    // Work items in a millisecond.
    std::uint64_t rate(std::uint64_t all_work, std::int64_t past_ns) const noexcept {
        return (all_work - work_) * 1'000'000 / static_cast<std::uint64_t>(past_ns + 1);
    }
    // After a part of the trial. The rate rises as long as tasks arrive, and other workers that
    // have none left use the processor; the trial goes on until the rate is steady.
    action judge(std::uint64_t found) noexcept {
        const bool rises = found * 4 > together_ * 5;
        const std::uint64_t best = found > together_ ? found : together_;
        together_ = found;
        ++looks_;
        if (tuning::stressed) return (alternate_ = !alternate_) ? action::keep : action::fail;
        if (best * 10 >= apart_ * 11 && looks_ > 1) return action::keep;
        if (best * 2 < apart_ ? looks_ < 3 : looks_ < 5) return action::gather;
        if (rises && looks_ < tuning::longest_trial_looks) return action::gather;
        return action::fail;
    }

    phase phase_ = phase::watching;
    bool alternate_ = false;
    unsigned looks_ = 0;            // The parts of the trial that are over.
    std::uint64_t together_ = 0;    // The rate in the last part of the trial.
    std::uint64_t crossings_ = 0;   // At the begin of the window.
    std::uint64_t work_ = 0;        // At the begin of the window (own) or phase (of all workers).
    std::int64_t since_ns_ = 0;     // The begin of the window or phase.
    std::int64_t next_look_ns_ = 0; // When `advance` needs the work items of all workers.
    std::int64_t window_tick_ns_ = 0;
    std::uint64_t apart_ = 0; // The rate before the worker became the host.
    std::int64_t host_until_ns_ = 0;
    std::int64_t gathering_gap_ns_ = 0;
    std::int64_t next_gathering_ns_ = 0;
};

} // namespace sennit::sched
