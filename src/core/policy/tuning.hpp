// SPDX-License-Identifier: Apache-2.0
// The engine's numbers, each with its reason; and smaller ones for builds that provoke
// (SENNIT_STRESS) or explore (SENNIT_SIMULATOR) rare interleavings.
#pragma once

#include "sennit/detail/base/sanitizers.hpp"

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

// A futex sleep and wake costs 5-50 us; looking about that long never costs more than twice the
// best choice.
inline constexpr std::int64_t search_ns = 50'000;

// A fork that is published on request comes within a microsecond; who has not answered by now sits
// in a long leaf.
inline constexpr std::int64_t force_after_ns = stressed ? 0 : 20'000;

// The same where taking costs no barrier, since somebody has taken lately
// (biased_lock::is_contended), and pieces take long (progress_tracker.hpp): more than a handler
// takes that sends 64 messages to another worker.
inline constexpr std::int64_t take_after_ns = stressed ? 0 : 4'000;

// Between two looks for work: about a microsecond.
inline constexpr unsigned pauses_per_look = simulated ? 1 : 32;

// What a stolen child usually still needs when its parent comes to the join is either next to
// nothing or long.
inline constexpr unsigned looks_before_waiting = simulated ? 1 : 100;

// A lock is held for less than a microsecond, as a rule. From look to look the pauses double: each
// look takes the line from the owner, who waits for it twice.
inline constexpr unsigned looks_at_a_lock = simulated ? 1 : 6;

// What a queue has to hold of work for half of it to be given away: several times what a hand-over
// costs.
inline constexpr std::int64_t share_ns = 3'000;
// What is not worth it goes all the same after so long: pieces may be short and go on for ever.
inline constexpr std::int64_t trial_ns = 20'000'000;
// Of the times that a worker finds another one inside what both use, so many are timed together. If
// each takes no longer than this, it tries to have it for itself; if that was slower, it does not
// try again for so long. What a queue has to hold meanwhile to be shared: pieces that talk may each
// go on until a channel is full.
inline constexpr unsigned contentions_per_check = stressed ? 2 : 64;
inline constexpr std::int64_t contention_ns = 5'000;
inline constexpr std::int64_t apart_ns = 1'000'000'000;
inline constexpr std::int64_t deferred_share_ns = 100'000;

// Picks between two looks at the shared queue first: as in Go's scheduler, often enough not to
// starve, prime against rhythms.
inline constexpr unsigned global_poll_interval = simulated ? 3 : 61;
// Fewer where they take longer than this, which is more than a tick of the coarse clock: timers
// wait for those looks, too. At least two, or the own queue would hardly have its turn. Fixed, one
// timer of six busy runtimes was 3.0 s late.
inline constexpr std::int64_t global_poll_target_ns = 5'000'000;
inline constexpr unsigned min_global_poll_interval = simulated ? 3 : 2;

// Looks at an owner that is inside its section before a thief gives up: it may have lost its
// processor there.
inline constexpr unsigned owner_wait_rounds = simulated ? 3 : 2'000;

// Of an owner's sections behind a claim, so many are dear for it, by some 5 ns each, and claims
// cheap: biased_lock.hpp.
inline constexpr unsigned contended_sections = simulated ? 1 : 256;

// How long one who watches over others' single pieces of work sleeps between two looks: at first,
// and at most. And how many looks in a row that find nothing end the watch.
inline constexpr std::int64_t first_sentinel_sleep_ns = 100'000;
inline constexpr std::int64_t longest_sentinel_sleep_ns = 1'000'000;
inline constexpr unsigned sentinel_idle_looks = simulated ? 1 : 3;

// Who sleeps until a timer is due rises before, by what a wake-up has taken lately: 5 us on a
// machine of one's own, 70 where a host has to bring a halted virtual processor back. At most so
// much; and so much sleep for that little waiting.
inline constexpr std::int64_t longest_wait_ns = 100'000;
inline constexpr std::int64_t sleep_to_wait = 16;

// The watchdog's looks: two of them, and a thread's birth, in less than 10 ms; and how much of a
// processor's time somebody has had between them who is stuck and not only slowed down. After so
// many looks with all in bed it sleeps.
inline constexpr std::int64_t watch_period_ns = 4'000'000;
inline constexpr std::int64_t stuck_ns = 3'000'000;
inline constexpr unsigned quiet_looks = 20;
// Work has been ready so long behind stuck workers, with no thread to be had for it: the program is
// told. Calls that block a thread rarely take as long where more of them than threads are meant.
inline constexpr std::int64_t starvation_ns = 1'000'000'000;

// Pieces of mail that one mailbox handles before others have their turn.
inline constexpr unsigned messages_per_batch = simulated ? 2 : 64;
// A piece of mail takes long if it takes more than a hand-over to another worker, roughly; one turn
// in so many is timed.
inline constexpr std::int64_t slow_message_ns = 400;
inline constexpr unsigned batches_per_sample = 16;
// How much longer a turn may take while more mail waits: some thousand pieces, so that one to which
// many send keeps up with them.
inline constexpr std::int64_t max_batch_ns = 100'000;

// What handlers of one worker send to a mailbox of another one before it gets to its mail: more
// than it gets in a turn where nobody is outrun, unless pieces are so short that one worker had
// best do it all.
inline constexpr unsigned max_unreceived_messages = stressed ? 2 : 256;

// Of the handlers that one worker wakes for another one, so many stay where they were woken, which
// costs ten times as much as to send them back, once.
inline constexpr unsigned moves_one_in = simulated ? 2 : 32;

// Of the turns that mail from another worker has made, so many may end with a move there: it costs
// as much as one such message, or two.
inline constexpr unsigned migration_odds = simulated ? 1 : 16;
// It moves from a worker that runs a piece in less time than this: several times what such messages
// take.
inline constexpr std::int64_t talk_ns = 2'000;

// Idle contexts kept by a worker: their stacks are warm.
inline constexpr unsigned max_cached_contexts = simulated ? 1 : 16;

// Free pieces of each size that a worker keeps. None under AddressSanitizer, which shall see each
// use after its end.
#ifdef SENNIT_ADDRESS_SANITIZER
inline constexpr unsigned max_cached_blocks = 0;
#else
inline constexpr unsigned max_cached_blocks = 1024;
#endif

// Batches of each size, of half as many pieces, that the process keeps for workers that have none:
// at most 18 MiB in all.
inline constexpr unsigned magazines_in_depot = 16;

} // namespace sennit::sched::tuning
