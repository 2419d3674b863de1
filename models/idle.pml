// SPDX-License-Identifier: Apache-2.0
// The idle protocol: post, ask, force, sleep, wake, pass on, stop. src/core/README.md defines the
// words. The code is src/core/idle/idle_search.cpp, parker.hpp, idle_map.hpp, worker.cpp (run_one),
// fork_stack.cpp (publish_on_request) and steal_fork.cpp (steal_fork_from, force_publication).
// models/README.md says which parts are modelled and which are left out.
//
// Sizes:    WORKERS, ITEMS (tasks posted from outside, one poster each), FORKS (pushed by item 0 as
//           private forks), MEET (each task waits until that many tasks run at the same time; 0 or
//           1: tasks end immediately).
// Options:  STOP_EARLY (stop as soon as all is posted, not when all has run), OWNER_BUFFER (the
//           fork owner's store of `head` lies in a store buffer), NO_SPIN (workers sleep without a
//           search first: smaller), FUTEX (the kernel's queue and the wake after the store; without
//           it parking is one step), BARRIER_BEFORE_GUESS (the forcing thief passes the barrier
//           first, then guesses whether there are private forks), NO_STOP (no shutdown; the workers
//           vanish when all tasks have ended: smaller), REFUSAL (a worker may be refused as a
//           searcher, and was counted for a moment), GUEST (the number of an item that has no
//           poster: a guest brings it, idle_guest.pml), LATE (the last searcher may look late).
// Weakened: WEAK_POST_STORE, WEAK_POST_LOAD, WEAK_SLEEP_STORE, WEAK_SLEEP_LOAD: one of Dekker's
//           four accesses.
// Mutants:  MUTANT_...; see the places.

#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef ITEMS
#define ITEMS 1
#endif
#ifndef FORKS
#define FORKS 0
#endif
#ifndef MEET
#define MEET 0
#endif

#define PIECES (ITEMS + FORKS)
#define NOBODY 15

#define AWAKE 0
#define ASLEEP 1
#define NOTIFIED 2

// The idle map: one bit for each worker.
byte idle;
#define BIT(w) (1 << (w))

// Parkers, with the futex: `waiting` is the kernel's queue.
byte word[WORKERS];
bool waiting[WORKERS];

// The injector: one bit for each item that lies in it.
byte queue;
byte queue_buffer; // WEAK_POST_STORE: pushed, but not yet visible to other threads
byte idle_buffer; // WEAK_SLEEP_STORE: set, but not yet visible to other threads

// The fork stack of the one context that forks. Forks [0, top) are stolen, [top, split) public,
// [split, head) private.
byte owner = NOBODY;
byte top;
byte split;
byte head;        // as its owner sees it
byte head_memory; // as the other threads see it
#ifdef GUEST
#define GUEST_LINE WORKERS
bool poll[WORKERS + 1]; // by line: those of the workers' threads, and that of the guest's
bool has_guest_line[WORKERS]; // other threads find the guest's line under this worker
bool lent[WORKERS];
bool offered[WORKERS];
byte inside[WORKERS]; // the threads that use the worker
#define LINE(w) (has_guest_line[w] -> GUEST_LINE : w)
#else
bool poll[WORKERS];
#define LINE(w) w
#endif

byte searching;  // the number of searchers
#ifdef LATE
byte late_looker = NOBODY;
#endif
bool unproven;   // work may have been left to the searchers that only a look after a barrier shows

bool stopping;
byte posted; // one bit for each item
byte runs; // one bit for each task that has begun: items first, then forks
byte ended_pieces;
byte met;
byte ended; // workers

#define ALL_PIECES ((1 << PIECES) - 1)
#define HEAD_DRAIN head_memory = head

#include "idle_steps.pml"

// ---- the worker

proctype worker(byte me) {
#ifdef GUEST
    byte line;
#endif
    byte chosen = NOBODY;
    byte piece = NOBODY;
    bool found;
    bool stop_seen;
    bool bit_was_set;
    bool searches; // this worker is counted as a searcher
    bool looks;
#ifdef LATE
    bool late; // the look comes without a barrier
#endif
#if FORKS || defined(GUEST)
    byte other;
#endif

#ifdef GUEST
    inside[me] = 1;
#endif
step:
#ifdef NO_STOP
    if
    :: ended_pieces == PIECES -> goto out
    :: else
    fi;
#endif
    // run_next_task: the injector.
    atomic {
        if
        :: queue != 0 ->
            if
            :: queue & 1 -> piece = 0
            :: else ->
                if
                :: queue & 2 -> piece = 1
                :: else -> piece = 2
                fi
            fi;
            queue = queue & ~(1 << piece);
            begin_piece(piece)
        :: else -> piece = NOBODY
        fi
    }
    if
    :: piece != NOBODY ->
        end_search_with_work();
#if FORKS
        if
        :: piece == 0 ->
            piece = NOBODY;
            fork_all(poll[me]);
            goto step
        :: else
        fi;
#endif
#if defined(GUEST) && GUEST != 0
        if
        :: piece == GUEST -> ended_pieces++ // as in idle_guest.pml
        :: else -> end_piece()
        fi;
        piece = NOBODY;
#else
        piece = NOBODY;
        end_piece();
#endif
        goto step
    :: else
    fi;

#if FORKS
    // steal_fork
    if
    :: atomic {
        IS_OTHER_OWNER ->
        other = owner
    }
        atomic {
            if
            :: top < split ->
                begin_piece(ITEMS + top);
                piece = top;
                found = (split - top == 1); // it was the last public fork
                top++
            :: else ->
                piece = NOBODY
            fi
        }
        if
        :: piece != NOBODY ->
            piece = NOBODY;
            if
            :: found -> ask(other)
            :: else
            fi;
            d_step {
                found = false;
                other = 0
            }
            atomic { // hand_over_search
                if
                :: searches ->
                    searches = false;
                    searching--
                :: else
                fi
            }
#ifndef MUTANT_NO_WAKE_AFTER_STEAL
            wake_one(chosen);
#endif
            end_piece();
            goto step
        :: else
        fi;
        d_step {
            ask(other);
            other = 0
        }
    :: else
    fi;
#endif

    // park_or_find_work: become a searcher, unless too many workers are, ...
#ifdef REFUSAL
    if
    :: searches
    :: !searches ->
        searching++;
        if
        :: searches = true
        :: searching > 1 -> searching-- // not admitted
        fi
    fi;
#else
    atomic {
        if
        :: searches
        :: !searches ->
            searching++;
            searches = true
        fi
    }
#endif
    // ... perhaps search for a moment, ...
#ifndef NO_SPIN
    if
    :: searches ->
        request_share_from_all();
        if
        :: force()
        :: skip
        fi;
        look(found);
        if
        :: found ->
            found = false;
            goto step
        :: else
        fi
    :: skip
    fi;
#endif

    // ... then announce, and if no other worker searches: ask, force, check again; sleep.
#ifdef WEAK_SLEEP_LOAD
    look(found); // the check was done before the announcement is visible
#endif
#ifdef MUTANT_BIT_BEFORE_WORD
    idle = idle | BIT(me);
    word[me] = ASLEEP;
#else
    word[me] = ASLEEP;
#ifdef WEAK_SLEEP_STORE
    idle_buffer = idle_buffer | BIT(me);
#else
    idle = idle | BIT(me);
#endif
#endif
#if FORKS && !defined(MUTANT_NO_UNPROVEN)
    unproven = true; // without forks every look shows all tasks
#endif
    atomic {
        if
        :: searches ->
            searches = false;
            searching--
        :: else
        fi;
        looks = (searching == 0)
    }
#ifdef MUTANT_SLEEP_UNSEARCHED
    looks = false;
#endif
#ifdef LATE
    late = (looks && (idle | BIT(me)) != BIT(WORKERS) - 1);
    atomic { // L1
        if
        :: late && late_looker == NOBODY -> late_looker = me
        :: else
        fi
    }
#endif
look_again:
    if
    :: looks ->
#ifdef LATE
        if
        :: late
        :: !late -> unproven = false
        fi;
#else
        unproven = false;
#endif
#ifndef MUTANT_NO_ASK
        request_share_from_all();
#endif
#if FORKS && !defined(MUTANT_LOOKER_DOES_NOT_SHARE)
        poll[me] = true;
#endif
#ifdef LATE
        if
        :: late
        :: !late -> force()
        fi
#else
        force()
#endif
    :: else
    fi;
#ifdef MUTANT_STOP_BEFORE_BIT
    skip; // stop_seen keeps the result of an earlier check
#else
    stop_seen = stopping;
#endif
#ifndef WEAK_SLEEP_LOAD
#ifdef MUTANT_NO_RECHECK
    found = false;
#else
    if
    :: looks -> look(found)
    :: else -> found = false
    fi;
#endif
#endif
    if
    :: stop_seen && !found && !looks -> // other workers have relied on this searcher
        looks = true;
        goto look_again
    :: else
    fi;
    looks = false;
    if
    :: found || stop_seen ->
#ifdef LATE
        leave_late_look(me);
#endif
        atomic { // one fetch_and
#ifdef WEAK_SLEEP_STORE
            if
            :: idle_buffer & BIT(me) ->
                idle_buffer = idle_buffer & ~BIT(me);
                idle = idle | BIT(me)
            :: else
            fi;
#endif
            bit_was_set = ((idle & BIT(me)) != 0);
            idle = idle & ~BIT(me)
        }
        if
        :: bit_was_set ->
            word[me] = AWAKE;
            searching++;
            searches = true
        :: else ->
#ifndef MUTANT_LEAVE_TOKEN
            park(me);
#endif
#ifndef MUTANT_FORGET_TOKEN
            searches = true; // the waker has counted this worker
#endif
#if FORKS
            unproven = true
#else
            skip
#endif
        fi;
        bit_was_set = false;
        if
        :: found ->
            d_step {
                found = false;
                stop_seen = false
            }
            goto step
        :: else ->
#ifndef MUTANT_END_ALONE
            load_idle(chosen);
            wake_searcher(chosen);
#endif
            goto out
        fi
#ifdef LATE
    :: !found && !stop_seen && late_looker == me ->
        if // L2
        :: atomic {
            word[me] == NOTIFIED -> word[me] = AWAKE
        }
            leave_late_look(me); // L3
            searches = true
#ifndef MUTANT_LATE_LOOK_NEVER_COMES
        :: true -> // The time is over.
            leave_late_look(me);
            d_step {
                late = false;
                looks = true
            }
            goto look_again
#endif
#ifdef NO_STOP
        :: ended_pieces == PIECES -> goto out
#endif
        fi
#endif
    :: else ->
        sleep_offered(me);
        searches = true
    fi;
    goto step;

out:
    ended++
}

// ---- the world outside

proctype poster(byte item) {
    byte chosen = NOBODY;
    post(item)
}

#ifdef GUEST
#include "idle_guest.pml"
#endif

#ifndef NO_STOP
proctype stopper() {
    byte chosen = NOBODY;
    byte n;
#ifdef STOP_EARLY
    posted == (1 << ITEMS) - 1;
#else
    ended_pieces == PIECES;
#endif
#ifdef MUTANT_WAKE_BEFORE_STOP
    do
    :: n < WORKERS ->
        load_idle(chosen);
        wake_searcher(chosen);
        n++
    :: else -> break
    od;
    stopping = true;
#else
    stopping = true;
    do
    :: n < WORKERS ->
        load_idle(chosen);
        wake_searcher(chosen);
        n++
    :: else -> break
    od;
#endif
    ended == WORKERS;
    assert(runs == ALL_PIECES && ended_pieces == PIECES)
}
#endif

#if defined(WEAK_POST_STORE) || defined(WEAK_SLEEP_STORE) || (defined(OWNER_BUFFER) && FORKS)
// Store buffers empty themselves in the end, at any time.
proctype drain() {
end_drain:
    do
    :: atomic {
        queue_buffer != 0 ->
        queue = queue | queue_buffer;
        queue_buffer = 0
    }
    :: atomic {
        idle_buffer != 0 ->
        idle = idle | idle_buffer;
        idle_buffer = 0
    }
    :: atomic {
        head_memory != head -> HEAD_DRAIN
    }
    od
}
#endif

init {
    byte i;
    atomic {
        do
        :: i < WORKERS ->
            run worker(i);
            i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < ITEMS ->
#ifdef GUEST
            if
            :: i == GUEST -> run guest()
            :: else -> run poster(i)
            fi;
#else
            run poster(i);
#endif
            i++
        :: else -> break
        od;
#ifndef NO_STOP
        run stopper();
#endif
#if defined(WEAK_POST_STORE) || defined(WEAK_SLEEP_STORE) || (defined(OWNER_BUFFER) && FORKS)
        run drain();
#endif
    }
}

#define run_0 ((runs & 1) != 0)
#define posted_0 ((posted & 1) != 0)
#define all_run (runs == ALL_PIECES)
#define all_posted (posted == (1 << ITEMS) - 1)

ltl posted_is_run { [] (posted_0 -> <> run_0) }
ltl all_is_run { [] (all_posted -> <> all_run) }
ltl workers_end { <> (ended == WORKERS) }
