// SPDX-License-Identifier: Apache-2.0
// The parker of one worker: the place where it sleeps. src/core/README.md has the protocol around
// it, which states when a worker may be woken.
//
// States of the word: awake (0); asleep (1): announced, may be waiting on the futex; polling (2):
// waits for events from outside, in `event_source::wait`; notified (3): a waker chose this worker;
// notified as a searcher (4): the waker has also counted it as a searcher. Only the owner makes the
// transitions 0 -> 1, 1 -> 2, 2 -> 1 and * -> 0. Only the one waker that took the worker's bit from
// the idle map makes the transitions from 1 or 2 to 3 or 4. It ends the wait that the word names:
// the futex for 1, the event source for 2.
#pragma once

#include "core/idle/event_source.hpp"
#include "core/idle/waker_note.hpp"
#include "core/policy/tuning.hpp"
#include "sennit/detail/base/atomic.hpp"
#include "sennit/detail/base/cache_line.hpp"
#include "sennit/detail/core/timer.hpp"
#include "sennit/detail/sys/cpu_relax.hpp"
#include "sys/clock.hpp"
#include "sys/futex.hpp"
#include "sys/mutant.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace sennit::sched {

class alignas(base::destructive_distance) parker {
public:
    void announce() noexcept { word_.store(asleep); }
    void sleep() noexcept { (void)sleep_until(never); } // Until notified.
    // Blocks until notified, or until the deadline (`never`: none), and returns false in the latter
    // case. A worker that then gives up must take its bit from the idle map before it cancels: if
    // the bit is gone, the token is on its way.
    bool sleep_until(std::int64_t deadline_ns) noexcept {
        while (!notified_now()) // pairs with notify
            if (deadline_ns == never)
                sys::futex_wait(word_, asleep);
            else if (!sys::futex_wait_until(word_, asleep, deadline_ns))
                return false;
        // The owner's own state; the next announce is sequentially consistent.
        word_.store_rlx(awake);
        return true;
    }
    // Like sleep_until, and returns false also when `from` has events, which it takes into `into`,
    // or without cause.
    bool poll_until(std::int64_t deadline_ns, event_source& from, caught_events& into) noexcept {
        events_.store_rlx(&from); // Ordered by the word: pairs with notify_as.
        std::uint32_t seen = asleep;
        if (word_.cas(seen, polling)) { // Fails if this worker was chosen meanwhile.
            from.wait(into, deadline_ns);
            seen = polling;
            if (word_.cas(seen, asleep)) return false;
        }
        woken_as_searcher_ = seen == notified_as_searcher;
        // The owner's own state; the next announce is sequentially consistent.
        word_.store_rlx(awake);
        return true;
    }
    // Like sleep_until, but awake when the deadline comes, if nothing else runs here. It wakes
    // early by the latency of recent wake-ups, but at most by a sixteenth of the time that is left,
    // and polls the clock for the rest. The latency is the mean plus four times the deviation, both
    // followed as TCP follows round trips (RFC 6298). Where `from` is not null, waits as poll_until
    // does.
    bool sleep_to(std::int64_t deadline_ns, event_source* from, caught_events& into) noexcept {
        if (tuning::simulated) return sleep_for_either(deadline_ns, from, into);
        const std::int64_t most = (deadline_ns - sys::now_ns()) / tuning::sleep_to_wait;
        const std::int64_t early =
            std::min({wakes_in_ns_ + 4 * deviation_ns_, most, tuning::longest_wait_ns});
        const std::int64_t rise_ns = deadline_ns - std::max(early, std::int64_t{0});
        if (sleep_for_either(rise_ns, from, into)) return true;
        const std::int64_t now = sys::now_ns();
        if (into.count != 0 || now < rise_ns) return false; // Events, or a wait without cause.
        const std::int64_t late =
            std::clamp(now - rise_ns, std::int64_t{0}, tuning::longest_wait_ns);
        deviation_ns_ += (std::abs(late - wakes_in_ns_) - deviation_ns_) / 4;
        wakes_in_ns_ += (late - wakes_in_ns_) / 8;
        while (!notified_now()) { // pairs with notify
            if (sys::now_ns() >= deadline_ns) return false;
            sys::cpu_relax();
        }
        word_.store_rlx(awake); // Orders nothing: the owner's own state, as in sleep_until.
        return true;
    }
    // Waits as poll_until does, or as sleep_until does where `from` is null.
    bool sleep_for_either(std::int64_t deadline_ns, event_source* from,
                          caught_events& into) noexcept {
        return from ? poll_until(deadline_ns, *from, into) : sleep_until(deadline_ns);
    }
    void cancel() noexcept { word_.store_rlx(awake); } // Orders nothing: the owner's own state.
    void notify(const waker_note& from = {}) noexcept { notify_as(notified, from); }
    // The caller has counted the worker as a searcher.
    void notify_as_searcher(const waker_note& from = {}) noexcept {
        notify_as(notified_as_searcher, from);
    }
    // Any thread. True if the worker was notified and has not run since: a hint.
    bool notified_hint() const noexcept { return word_.load_rlx() >= notified; }
    // The note of the waker that ended the last sleep. Owner only.
    const waker_note& waker() const noexcept { return waker_; }
    // True if the waker of the last sleep has counted this worker as a searcher. Owner only.
    bool woken_as_searcher() const noexcept { return woken_as_searcher_; }
    // Any thread. The number of times that the worker was notified.
    std::uint64_t wakes() const noexcept { return wakes_.load_rlx(); } // A metric: orders nothing.

private:
    static constexpr std::uint32_t awake = 0, asleep = 1, polling = 2, notified = 3,
                                   notified_as_searcher = 4;
    bool notified_now() noexcept {
        const std::uint32_t seen = word_.load_acq(); // pairs with notify
        woken_as_searcher_ = seen == notified_as_searcher;
        return seen >= notified;
    }
    void notify_as(std::uint32_t token, const waker_note& from) noexcept {
        waker_ = from; // published by the word
        // The explorer would take each access for a choice point. Orders nothing: there is one
        // writer at a time, because a waker holds the worker's bit from the idle map, and the
        // worker sets that bit again only after it has seen the store below.
        if constexpr (!tuning::simulated) wakes_.store_rlx(wakes_.load_rlx() + 1);
        if (word_.exchange(token) == polling && !SENNIT_MUTANT("wake-up of the polling worker"))
            events_.load_rlx()->wake(); // pairs with poll_until, by the word
        else
            sys::futex_wake(word_, 1);
    }
    base::atomic<std::uint32_t> word_{awake};
    base::atomic<event_source*> events_{nullptr}; // That of the owner's runtime.
    base::atomic<std::uint64_t> wakes_{0};
    std::int64_t wakes_in_ns_ = 0; // The mean latency of a wake-up; the owner's.
    std::int64_t deviation_ns_ = 0;
    bool woken_as_searcher_ = false; // The owner's.
    waker_note waker_;               // The waker's until it has notified, then the owner's.
};

} // namespace sennit::sched
