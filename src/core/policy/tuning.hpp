// SPDX-License-Identifier: Apache-2.0
// The tuning constants of the scheduler, each with its reason. Builds that provoke (SENNIT_STRESS)
// or explore (SENNIT_SIMULATOR) rare interleavings use smaller values.
#pragma once

#include "sennit/detail/base/sanitizers.hpp"

#include <cstddef>
#include <cstdint>

namespace sennit::sched::tuning {

#ifdef SENNIT_SIMULATOR
inline constexpr bool simulated = true;
#else
inline constexpr bool simulated = false;
#endif
#ifdef SENNIT_STRESS
inline constexpr bool stressed = true;
#else
inline constexpr bool stressed = simulated;
#endif

// How long a thief waits before it forces publication. An owner publishes a fork within a
// microsecond of the request; an owner that has not answered by now is in a long leaf.
inline constexpr std::int64_t force_after_ns = stressed ? 0 : 20'000;

// The most contexts whose publication a thief forces with one barrier. The thief holds their locks
// meanwhile, for 2 to 20 us.
inline constexpr unsigned victims_per_barrier = 16;

// Pushes that publish without a request after a thief had to force publication. A push and a pop
// of a public fork cost some 0.1 us more, so all of these cost as much as a few barriers. Chosen by
// `phases 16 1000 100`, of 64, 256, 1,024 and 100,000: 2.9, 1.1, 0.6 and 0.5 forcing barriers a
// phase.
inline constexpr std::uint32_t eager_pushes = simulated ? 2 : 1024;

// How long a thief waits before it steals tasks where that needs no barrier, because another thread
// has stolen recently (biased_lock::is_contended), and tasks take long (progress_tracker.hpp). This
// is longer than a handler takes that sends 64 messages to another worker.
inline constexpr std::int64_t take_after_ns = stressed ? 0 : 4'000;

// Pauses between two looks for work: about a microsecond.
inline constexpr unsigned pauses_per_look = simulated ? 1 : 32;

// The shortest search of a worker is the whole search time, halved this often: 3 of 50 us. A worker
// that parks and wakes pays 5 to 10 us.
inline constexpr int most_halvings_of_search = 4;

// How long a searcher leaves events to the worker that delivered the last ones, without a new
// delivery. A server with 16 connections delivers each 5 to 60 us.
inline constexpr std::int64_t leave_events_ns = simulated ? 0 : 20'000;

// How long a worker that parks as the last searcher delays its look behind a barrier. It is more
// than the gap of `phases 16 1000 100`, whose workers park and wake again in some 100 us.
inline constexpr std::int64_t late_look_ns = 250'000;

// Looks for work between two polls for events from outside, while no parked worker waits for these:
// a poll in vain takes some 200 ns, a look 1 us.
inline constexpr unsigned looks_per_event_poll = simulated ? 1 : 4;

// Looks at a join before the parent waits. At its parent's join, a stolen child usually still needs
// either next to no time or long.
inline constexpr unsigned looks_before_waiting = simulated ? 1 : 100;

// Looks at a lock before the thread waits. A lock is usually held for less than a microsecond. The
// pauses double from look to look, because each look takes the cache line from the owner, which
// waits for it twice.
inline constexpr unsigned looks_at_a_lock = simulated ? 1 : 6;

// The work that a queue must hold for half of it to be shared: several times the cost of a
// hand-over.
inline constexpr std::int64_t share_ns = 3'000;
// The work that makes a queue worth a wake-up, where no worker searches and the owner has had
// nothing to run since the last request. A wake-up takes 5 us, and up to 70 us where a host has to
// bring a halted virtual processor back. Chosen by the row `io-echo-16` with two workers.
inline constexpr std::int64_t share_by_waking_ns = 50'000;
// A queue that is not worth sharing is shared in any case after this time: tasks may be short and
// continue forever.
inline constexpr std::int64_t trial_ns = 20'000'000;
// Constants of the consolidation policy. A window of `crossings_per_window` crossings is long
// enough to tell a group that was just moved from tasks that communicate all the time.
// `short_item_ns`: an item that takes longer is worth a crossing in any case.
// `crossings_per_contended_lock`: of 1, 4 and 16, 4 and 16 serve the row `churn` best.
inline constexpr unsigned crossings_per_window = stressed ? 2 : 64;
inline constexpr unsigned items_per_crossing = 8;
inline constexpr unsigned crossings_per_contended_lock = 4;
inline constexpr std::int64_t short_item_ns = 3'000;
inline constexpr std::int64_t measuring_ns = stressed ? 0 : 200'000;
inline constexpr std::int64_t settling_ns = stressed ? 0 : 50'000;
inline constexpr std::int64_t trial_look_ns = stressed ? 0 : 50'000;
inline constexpr unsigned longest_trial_looks = 20;
inline constexpr std::int64_t hosting_look_ns = stressed ? 0 : 1'000'000;
inline constexpr std::int64_t first_hosting_ns = stressed ? 0 : 20'000'000;
inline constexpr std::int64_t longest_hosting_ns = stressed ? 0 : 1'000'000'000;
inline constexpr std::int64_t first_pause_ns = stressed ? 0 : 2'000'000;
inline constexpr std::int64_t longest_pause_ns = stressed ? 0 : 1'000'000'000;
inline constexpr std::int64_t shortest_gathering_gap_ns = stressed ? 0 : 5'000;
inline constexpr std::int64_t longest_gathering_gap_ns = stressed ? 0 : 160'000;
// Runnables that the host takes at a time from a queue where each costs a lock.
inline constexpr unsigned gathered_at_once = 64;
// Picks between two global polls, batches in one pick, and messages in a batch of a worker that
// measures.
inline constexpr unsigned trial_poll_interval = simulated ? 2 : 4;
inline constexpr unsigned trial_messages = simulated ? 1 : 16;

// Picks between two global polls: as in Go's scheduler, often enough to prevent starvation, and
// prime to avoid rhythms.
inline constexpr unsigned global_poll_interval = simulated ? 3 : 61;
// The interval shrinks where its picks take longer than this, which is more than a tick of the
// coarse clock: timers wait for global polls, too. At least two picks remain, or the own queue
// would hardly be served. With a fixed interval, one timer of six busy runtimes was 3.0 s late.
inline constexpr std::int64_t global_poll_target_ns = 5'000'000;
inline constexpr unsigned min_global_poll_interval = simulated ? 3 : 2;

// New work goes before the yielded runnables of its queue while these are fewer. Each may hold a
// stack that a depth-first order would have freed.
inline constexpr std::uint32_t yielded_before_new = simulated ? 2 : 16;

// Looks at an owner that is inside its section before a thief gives up: the owner may have lost its
// processor there.
inline constexpr unsigned owner_wait_rounds = simulated ? 3 : 2'000;

// After a revocation, this many owner sections are expensive for the owner, by some 5 ns each, and
// further revocations are cheap: biased_lock.hpp.
inline constexpr unsigned contended_sections = simulated ? 1 : 256;

// How long the sentinel sleeps between two scans for lone tasks: at first, and at most.
// `sentinel_idle_looks`: the number of consecutive scans without result that end the watch.
inline constexpr std::int64_t first_sentinel_sleep_ns = 100'000;
inline constexpr std::int64_t longest_sentinel_sleep_ns = 1'000'000;
inline constexpr unsigned sentinel_idle_looks = simulated ? 1 : 3;

// A worker that was woken from outside looks after this time whether the worker that it woke has
// begun: two to three wake-ups of a halted virtual processor.
inline constexpr std::int64_t woken_begin_ns = 100'000;

// The number of consecutive looks without an event after which no sentinel looks after the worker
// that waits for events from outside: the next event then wakes a second worker, which takes some
// 10 us.
inline constexpr unsigned event_idle_looks = simulated ? 1 : 16;

// A strand whose reads find data without a wait lets the ready strands run after each. The events
// that have come meanwhile are delivered first, once in this time: 0.25 % of a worker where there
// are none. Chosen by io-fork-16 (lab), whose requests compute for 0.23 ms.
inline constexpr std::int64_t io_turn_ns = 100'000;

// A busy worker polls for events from outside at a global poll. Each poll in vain doubles the
// number of global polls until the next one, up to this number, for at most a tick of the coarse
// clock. A worker that yields in a loop makes a global poll each 0.4 us, and a poll takes 0.2 us.
inline constexpr unsigned longest_event_poll_gap = simulated ? 2 : 64;

// The timer leader wakes before a deadline, by the latency of recent wake-ups: 5 us on a dedicated
// machine, 70 us where a host has to bring a halted virtual processor back. `longest_wait_ns`: the
// most that it wakes early. `sleep_to_wait`: the sleep that justifies one unit of such waiting.
inline constexpr std::int64_t longest_wait_ns = 100'000;
inline constexpr std::int64_t sleep_to_wait = 16;

// The watchdog's period: two looks and the start of a thread take less than 10 ms. `stuck_ns`: the
// processor time that a worker has used between two looks if it is stuck and not only slowed down.
// `quiet_looks`: after this many looks with all workers parked, the watchdog sleeps.
// `turn_wait_ns`: how long it waits for a stuck worker to yield at a lock before it activates a
// spare worker.
inline constexpr std::int64_t watch_period_ns = 4'000'000;
inline constexpr std::int64_t stuck_ns = 3'000'000;
inline constexpr unsigned quiet_looks = 20;
inline constexpr std::int64_t turn_wait_ns = 100'000;
// How long work must be ready behind stuck workers, with no thread available, before the program is
// told. Where a program intends more blocking calls than threads, the calls rarely take this long.
inline constexpr std::int64_t starvation_ns = 1'000'000'000;

// Messages that one mailbox handles before other tasks get their turn.
inline constexpr unsigned messages_per_batch = simulated ? 2 : 64;
// A message is slow if it takes longer than roughly a hand-over to another worker. One batch in
// this many is timed.
inline constexpr std::int64_t slow_message_ns = 400;
inline constexpr unsigned batches_per_sample = 16;
// How much longer a batch may take while more messages wait: some thousand messages, so that a
// receiver with many senders keeps up with them.
inline constexpr std::int64_t max_batch_ns = 100'000;

// Messages that handlers of one worker send to a mailbox of another worker before that mailbox
// handles any of them; beyond this number the receiver is flooded. It is more than a mailbox gets
// in a batch where no receiver is flooded, unless messages are so short that one worker should do
// all the work.
inline constexpr unsigned max_unreceived_messages = stressed ? 2 : 256;

// Of the handlers that one worker wakes for another, one in this many stays where it was woken.
// That costs ten times as much as sending it back, once.
inline constexpr unsigned moves_one_in = simulated ? 2 : 32;

// Of a thief's rounds over all workers, one in this many begins with the far workers, so that work
// also leaves a domain whose own workers always find some. No row chose it: no machine with several
// caches was there. The number is that of citor's pool (record 0083).
inline constexpr unsigned far_first_one_in = 8;

// Of the batches caused by messages from another worker, one in this many may end with a move to
// that worker. The move costs as much as one or two such messages.
inline constexpr unsigned migration_odds = simulated ? 1 : 16;
// A mailbox moves from a worker that runs a task in less time than this: several times the duration
// of such messages.
inline constexpr std::int64_t talk_ns = 2'000;

// Idle contexts cached by a worker: their stacks are warm.
inline constexpr unsigned max_cached_contexts = simulated ? 1 : 16;

// Free blocks of each size that a worker keeps. None under AddressSanitizer, which has to see each
// use after free.
#ifdef SENNIT_ADDRESS_SANITIZER
inline constexpr unsigned max_cached_blocks = 0;
#else
inline constexpr unsigned max_cached_blocks = 1024;
#endif

// Magazines of each size, of half as many blocks, that the process keeps for workers that have
// none; and the bytes in the magazines of all sizes, which is what 8 sizes of up to 512 bytes took.
inline constexpr unsigned magazines_in_depot = 16;
inline constexpr std::size_t max_bytes_in_depots = std::size_t{18} << 20;

} // namespace sennit::sched::tuning
